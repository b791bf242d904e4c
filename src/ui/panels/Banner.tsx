import { FIELDS, formatValue } from '../../config/fields';
import { pendingFields } from '../../store/configStore';
import { Button } from '../controls/Button';
import { useConfig, useRun, useSession } from '../session';

/** What stopped the run and what to do; ink, not red, and the history stays where it is. */
export function ErrorBanner() {
  const { control, run } = useSession();
  const error = useRun((state) => state.error);
  if (!error) return null;
  return (
    <div className="banner strong" role="alert">
      <p>
        <strong>{error.message}</strong> {error.hint}
      </p>
      {error.rewindTo !== null ? (
        <>
          <Button onClick={() => control.rewind()}>Rewind to iteration {error.rewindTo}</Button>
          <Button kind="ghost" onClick={() => control.reset()}>
            Reset
          </Button>
        </>
      ) : error.fatal ? (
        <Button onClick={() => control.reset()}>Reset and start again</Button>
      ) : (
        <Button onClick={() => run.setState({ error: null })}>Close</Button>
      )}
    </div>
  );
}

/** Settings that wait for a reset, and both ways out. */
export function PendingBanner() {
  const { control } = useSession();
  const config = useConfig((state) => state.config);
  const patch = useConfig((state) => state.patch);
  const inForce = useRun((state) => state.inForce);
  const step = useRun((state) => state.step);
  const pending = pendingFields(config, inForce);
  if (pending.length === 0 || step === 0 || inForce === null) return null;
  const words = pending.map((name) => `${FIELDS[name].label.toLowerCase()} ${formatValue(name, inForce[name])} \u2192 ${formatValue(name, config[name])}`);
  return (
    <div className="banner" role="status">
      <p>
        Takes effect on reset: {words.join(', ')}.
      </p>
      <Button onClick={() => control.reset()}>Reset now</Button>
      <Button kind="ghost" onClick={() => patch(Object.fromEntries(pending.map((name) => [name, inForce[name]])))}>
        Keep the old
      </Button>
    </div>
  );
}
