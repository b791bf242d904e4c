import type { Phase } from '../worker/protocol';
import type { Session } from '../store/session';

/** Iterations that "Run more" adds. */
export const MORE_STEPS = 30;

/** What the primary button would do now; null while nothing can be started. */
export function primaryAction(phase: Phase): 'play' | 'pause' | 'more' | null {
  if (phase === 'running') return 'pause';
  if (phase === 'finished') return 'more';
  return phase === 'ready' || phase === 'paused' ? 'play' : null;
}

export function runPrimary(session: Session): void {
  const action = primaryAction(session.run.getState().phase);
  if (action === 'pause') session.control.pause();
  else if (action === 'play') session.control.play();
  else if (action === 'more') {
    const { config, patch } = session.config.getState();
    patch({ totalSteps: Math.max(config.totalSteps, session.run.getState().step) + MORE_STEPS });
    session.control.play();
  }
}

export function runStep(session: Session): void {
  const { phase } = session.run.getState();
  if (primaryAction(phase) !== null && phase !== 'running') session.control.step(1);
}
