import type { CSSProperties } from 'react';
import { useEffect, useMemo, useRef } from 'react';
import { GLYPH_HUE } from '../theme/Glyph';
import styles from './editor.module.css';

const WORDS = new Set('fn let var const return if else for while switch case default struct true false'.split(' '));
const TYPES = /^(f32|u32|i32|bool|vec[234][fui]?|array|ptr|Token|TokenResult|Dims)$/;
const PIECE = /(\/\/[^\n]*)|(@[a-z_]+)|([A-Za-z_]\w*)|([^A-Za-z_@/]+|\/|@)/g;

interface Piece {
  text: string;
  className?: string | undefined;
  style?: CSSProperties;
}

/** Splits WGSL into pieces with a look: words, types, comments; names of ratios wear their level's hue. */
export function wgslPieces(code: string): Piece[] {
  return [...code.matchAll(PIECE)].map(([text, comment, attribute, name]) => {
    if (comment) return { text, className: styles.comment };
    if (attribute) return { text, className: styles.type };
    if (!name) return { text };
    if (WORDS.has(name)) return { text, className: styles.word };
    if (TYPES.test(name)) return { text, className: styles.type };
    const level = /^(token|segment|sequence)Ratio(Log)?_$/.exec(name)?.[1] as keyof typeof GLYPH_HUE | undefined;
    return level ? { text, style: { color: GLYPH_HUE[level] } } : { text };
  });
}

/** Where the part that the objective wrote begins; before it stands what all objectives share. */
const OWN_PART = 'const MEAN_COUNT';

/** The whole shader, opened at the objective's own part. */
export function WgslListing({ code }: { code: string }) {
  const listing = useRef<HTMLPreElement>(null);
  const own = code.indexOf(OWN_PART);
  const pieces = useMemo(() => wgslPieces(code), [code]);
  useEffect(() => {
    const element = listing.current;
    if (!element || own < 0) return;
    const line = code.slice(0, own).split('\n').length;
    element.scrollTop = (element.scrollHeight / code.split('\n').length) * (line - 3);
  }, [code, own]);
  return (
    <pre ref={listing} className={styles.listing} tabIndex={0} aria-label="WGSL" data-testid="wgsl">
      {pieces.map((piece, i) =>
        piece.className || piece.style ? (
          <span key={i} className={piece.className} style={piece.style}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </pre>
  );
}
