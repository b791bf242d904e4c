import type { KeyboardEvent } from 'react';
import type { Icicle } from '../../lens/types';
import type { IcicleLayout } from './icicleGeometry';
import styles from './icicle.module.css';
import { spoken } from './words';

interface Props {
  layout: IcicleLayout;
  icicle: Icicle;
  tokens: readonly string[];
  onToggle(token: number): void;
}

/** A switch in every gap between two tokens: on where a subsentence begins. */
export function CutHandles({ layout, icicle, tokens, onToggle }: Props) {
  const starts = new Set(icicle.segment.map(({ start }) => start));
  const top = layout.rows.segment.y + layout.rows.segment.height;
  const bottom = layout.rows.token.y + layout.rows.token.height;
  const onKeyDown = (event: KeyboardEvent<SVGGElement>) => {
    const handle = (event.target as Element).closest<SVGGElement>('[data-cut]');
    if (!handle) return;
    const at = Number(handle.dataset['cut']);
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (move !== 0) event.currentTarget.querySelector<SVGGElement>(`[data-cut="${at + move}"]`)?.focus();
    else if (event.key === 'Enter' || event.key === ' ') onToggle(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <g role="group" aria-label="Cuts between tokens" onKeyDown={onKeyDown}>
      {tokens.slice(1).map((token, i) => {
        const at = i + 1;
        const x = layout.left + at * layout.pitch;
        const isOn = starts.has(at);
        return (
          <g
            key={at}
            role="switch"
            aria-checked={isOn}
            aria-label={`cut between ${spoken(tokens[i] ?? '')} and ${spoken(token)}`}
            tabIndex={at === 1 ? 0 : -1}
            data-cut={at}
            className={styles.cut}
            onClick={() => onToggle(at)}
          >
            <rect x={x - layout.pitch / 2} y={top - 2} width={layout.pitch} height={bottom - top + 4} fill="transparent" />
            <path className={isOn ? styles.cutOn : styles.cutOff} d={`M${x} ${top - 1}V${bottom + 2}`} />
          </g>
        );
      })}
    </g>
  );
}
