import { useMemo } from 'react';
import { checkDifferences, type CustomObjective } from '../../objectives/custom';
import { ESTIMATORS } from '../../objectives';
import { TickIcon, CrossIcon } from '../theme/icons';
import styles from './editor.module.css';
import { useInspection } from './useInspection';

/** What was checked on the spot, and how it came out. */
export function Verdicts({ custom }: { custom: CustomObjective }) {
  const { objective, text } = custom;
  const differences = useMemo(() => checkDifferences(objective), [objective]);
  const kernel = useInspection(objective.id, text);
  const ours = `exact gradient against central differences: ${differences.compared} tokens, largest difference ${error(differences.maxError)} of the largest coefficient${differences.skipped ? `, ${differences.skipped} at a kink left out` : ''}`;
  return (
    <section aria-label="Checks">
      <h3>Checked</h3>
      <ul className={styles.verdicts} data-testid="verdicts">
        <Verdict ok={true} text="finite over ratios 0.001 to 1000, advantages of both signs and 0, at every parameter's bounds" />
        <Verdict ok={differences.ok} text={ours} />
        {kernel.state === 'waiting' ? <Verdict ok={null} text="GPU against CPU: compiling the kernel" /> : null}
        {kernel.state === 'failed' ? <Verdict ok={false} text={`GPU against CPU: ${kernel.problem}`} /> : null}
        {kernel.state === 'done' && kernel.inspection.gpu ? (
          <Verdict ok={kernel.inspection.gpu.ok} text={`GPU against CPU: ${kernel.inspection.gpu.tokens} tokens, largest difference ${error(kernel.inspection.gpu.maxError)} of the largest coefficient`} />
        ) : null}
        {kernel.state === 'done' && !kernel.inspection.gpu ? <Verdict ok={null} text="GPU against CPU: not checked, there is no WebGPU device" /> : null}
      </ul>
      <p className="soft">
        {'Advantage: '}
        {ESTIMATORS[objective.advantageEstimator].text}. {clipWords(custom)}
      </p>
    </section>
  );
}

function clipWords({ objective, parsed }: CustomObjective): string {
  if (objective.clipEffect === 'none') return 'Nothing is clipped.';
  if (parsed.clipped) return objective.clipEffect === 'hold' ? 'A token counts as clipped where your line says that its weight is held.' : 'A token counts as clipped where your line says so.';
  return 'A token counts as clipped where the loss leaves it no gradient although its advantage is not 0.';
}

function Verdict({ ok, text }: { ok: boolean | null; text: string }) {
  return (
    <li data-ok={ok === null ? 'unknown' : ok}>
      {ok === null ? <span aria-hidden="true">{'\u2013'}</span> : ok ? <TickIcon /> : <CrossIcon />}
      <span>
        <span className="visually-hidden">{ok === null ? 'Not known: ' : ok ? 'Passed: ' : 'Failed: '}</span>
        {text}
      </span>
    </li>
  );
}

const error = (x: number): string => (x === 0 ? '0' : x.toExponential(0).replace('-', '\u2212'));
