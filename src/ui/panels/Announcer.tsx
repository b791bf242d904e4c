import { useRun } from '../session';
import type { Phase } from '../../worker/protocol';

const WORDS: Partial<Record<Phase, string>> = {
  ready: 'Ready to train.',
  running: 'Training.',
  paused: 'Paused.',
  finished: 'The planned iterations are done.',
};

/** Says aloud when the run changes its state; never step by step. */
export function Announcer() {
  const phase = useRun((state) => state.phase);
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {WORDS[phase] ?? ''}
    </p>
  );
}
