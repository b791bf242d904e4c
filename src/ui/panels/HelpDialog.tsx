import { useEffect, useRef } from 'react';
import { Button } from '../controls/Button';
import { Glyph } from '../theme/Glyph';
import { KEY_LIST } from '../useKeyboard';
import { DECK_OBJECTIVES } from './objectives';

/** What the page is, in a few lines, and its keys. */
export function HelpDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    if (open && !element.open) element.showModal();
    if (!open && element.open) element.close();
  }, [open]);
  return (
    <dialog ref={dialog} className="help-dialog" aria-labelledby="help-title" onClose={onClose}>
      {open ? (
        <>
          <h2 id="help-title">How to read this page</h2>
          <p>
            A tiny language model learns column addition by reinforcement learning, in this browser. It starts with a bad habit: it forgets the carry. An answer earns 1 when a verifier finds it right, else 0.
          </p>
          <p>
            While one batch is used again, the model that learns drifts from the one that answered. The ratio r of their probabilities says how far, and may be formed over three spans. Where r leaves its band 1 {'\u00b1'} {'\u03b5'}, the clip cuts the gradient.
          </p>
          <ul className="help-objectives">
            {DECK_OBJECTIVES.map((entry) => (
              <li key={entry.id}>
                <Glyph kind={entry.glyph} />
                <strong>{entry.title}</strong>
                <span className="soft">{entry.line}</span>
              </li>
            ))}
          </ul>
          <p className="soft">SSPO is re-implemented from its abstract and from LPO: its constants are ours, and the page says so where they stand.</p>
          <h3>Keys</h3>
          <dl className="keys">
            {KEY_LIST.map(([key, does]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <Button onClick={onClose}>Close</Button>
        </>
      ) : null}
    </dialog>
  );
}
