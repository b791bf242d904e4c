import { useLayoutEffect, useRef } from 'react';
import katex from 'katex';
import 'katex/dist/katex.min.css';
import styles from './tex.module.css';

export interface TexProps {
  /** TeX of our own making (src/objectives, or constants of the page). */
  tex: string;
  display?: boolean;
}

/**
 * A formula, typeset with its MathML beside it for screen readers. KaTeX builds DOM nodes, never markup from a string,
 * so the page's content policy needs no inline styles; of the commands that need trust only \htmlClass is allowed.
 */
export default function Tex({ tex, display = false }: TexProps) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current) katex.render(tex, ref.current, texOptions(display));
  }, [tex, display]);
  return <span ref={ref} className={styles.tex} />;
}

/** KaTeX settings of every formula on the page. */
export function texOptions(display: boolean): katex.KatexOptions {
  return {
    displayMode: display,
    output: 'htmlAndMathml',
    throwOnError: false,
    trust: (context) => context.command === '\\htmlClass',
    strict: (code: string) => (code === 'htmlExtension' ? 'ignore' : 'warn'),
  };
}
