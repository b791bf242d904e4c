import { pendingFields } from '../../store/configStore';
import { Button } from '../controls/Button';
import { useSecondsSince } from '../hooks';
import { MORE_STEPS, primaryAction, runPrimary, runStep } from '../runActions';
import { useConfig, useRun, useSession } from '../session';
import { PauseIcon, PlayIcon, ResetIcon, StepIcon } from '../theme/icons';
import { lastReport } from '../../store/selectors';

/** Play, step, reset: the only solid shape of the page is the first. */
export function Transport() {
  const session = useSession();
  const phase = useRun((state) => state.phase);
  const action = primaryAction(phase);
  const waiting = useConfig((state) => state.config);
  const inForce = useRun((state) => state.inForce);
  const pending = pendingFields(waiting, inForce).length > 0;
  return (
    <div className="transport">
      <Button kind="solid" className="primary" disabled={action === null} onClick={() => runPrimary(session)}>
        {action === 'pause' ? <PauseIcon /> : <PlayIcon />}
        {action === 'pause' ? 'Pause' : action === 'more' ? `Run ${MORE_STEPS} more` : 'Play'}
      </Button>
      <Button kind="round" aria-label="One step" title="One step" disabled={action === null || action === 'pause'} onClick={() => runStep(session)}>
        <StepIcon />
      </Button>
      <Button kind="round" className={pending ? 'wanted' : ''} aria-label="Reset" title="Reset" disabled={phase === 'starting'} onClick={() => session.control.reset()}>
        <ResetIcon />
      </Button>
    </div>
  );
}

/** "Step n of N" with its hairline; while something loads, what it is and how far. */
export function StepCount() {
  const step = useRun((state) => state.step);
  const phase = useRun((state) => state.phase);
  const message = useRun((state) => state.message);
  const progress = useRun((state) => state.progress);
  const report = useRun(lastReport);
  const total = useConfig((state) => state.config.totalSteps);
  const busy = phase === 'starting' || phase === 'loadingModel' || phase === 'compiling' || phase === 'loadingReference';
  const seconds = useSecondsSince(busy ? phase : step, busy || phase === 'running');
  const waited = seconds > 1 ? `, ${seconds} s` : '';
  const last = report?.updates.at(-1);
  const config = useRun((state) => state.inForce);
  const place = last && config ? `epoch ${last.epoch}/${config.epochs}, minibatch ${last.minibatch}/${config.minibatches}` : '';
  const share = busy ? progress : total > 0 ? Math.min(1, step / total) : 0;
  const telling = busy || (phase === 'running' && (seconds > 1 || step === 0));
  const line = telling ? `${message}${waited}` : phase === 'failed' ? 'stopped, history kept' : place || message;
  return (
    <div className={telling ? 'step-count telling' : 'step-count'}>
      <div className="step-line">
        <strong>{busy ? 'Getting ready' : `Step ${step}`}</strong>
        {busy ? null : <span className="soft">of {total}</span>}
      </div>
      <div
        className={share === null ? 'progress-line unknown' : 'progress-line'}
        role="progressbar"
        aria-label={busy ? message : 'Iterations done'}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(share === null ? {} : { 'aria-valuenow': Math.round(share * 100) })}
      >
        <span style={{ width: `${(share ?? 1) * 100}%` }} />
      </div>
      <p className="step-place">{line}</p>
    </div>
  );
}
