import { lazy, Suspense } from 'react';
import type { TexProps } from './Tex';

const Tex = lazy(() => import('./Tex'));

/** `Tex` in a chunk of its own: KaTeX loads when a formula is first shown. */
export function LazyTex(props: TexProps) {
  return (
    <Suspense fallback={<span aria-hidden="true">&nbsp;</span>}>
      <Tex {...props} />
    </Suspense>
  );
}
