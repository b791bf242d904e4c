import type { ButtonHTMLAttributes } from 'react';

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  /** `solid`: the one primary action; `hairline`: everything else; `ghost`: inside a line of text. */
  kind?: 'solid' | 'hairline' | 'ghost' | 'round';
};

export function Button({ kind = 'hairline', className = '', ...rest }: Props) {
  return <button type="button" className={`button ${kind} ${className}`} {...rest} />;
}
