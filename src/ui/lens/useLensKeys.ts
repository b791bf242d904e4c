import { useEffect } from 'react';
import type { Session } from '../../store/session';
import { useSession } from '../session';
import { useLensModel } from './context';
import { jumpToWorst } from './WhatIfPanel';

/** Where letters and arrows belong to the element itself. */
const OWNS = 'input, select, textarea, [role=slider], [role=radio], [role=grid], [role=tab], [role=switch], [contenteditable], dialog';
/** Keys of the Train page that would steer the run from here. */
const SWALLOWED = ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'r', '1', '2', '3', '4', 'f', 'j', 'm'];

/** Keys of the lens. They come before the page's own, which would step or reset the run. */
export function useLensKeys(): void {
  const model = useLensModel();
  const session = useSession();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : document.body;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const isTyping = target.closest('input, select, textarea, [contenteditable], dialog');
      if (isTyping || !SWALLOWED.includes(key)) return;
      if (key === 'j') jumpToWorst(model);
      else if (key === 'm') model.matchAll();
      else if (key === 'f') freezeNewest(session);
      else if (target.closest(OWNS)) return;
      else if (key === 'ArrowRight' || key === 'ArrowLeft') {
        const { place, frozen } = model.getState();
        const length = frozen?.source.record.completions[place.completion]?.tokens.length ?? 1;
        const token = Math.min(length - 1, Math.max(0, place.token + (key === 'ArrowRight' ? 1 : -1)));
        if (token !== place.token) model.choose({ completion: place.completion, token });
      } else if (key === 'ArrowUp' || key === 'ArrowDown') return focusGrid();
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [model, session]);
}

/** Up and down change the level, which needs the focus in the icicle. */
function focusGrid(): void {
  document.querySelector<SVGGElement>('[data-picture="three-rulers"] [role=gridcell][tabindex="0"]')?.focus();
}

function freezeNewest(session: Session): void {
  const batch = session.run.getState().batches.at(-1);
  if (batch) session.lens.getState().freeze(batch);
}
