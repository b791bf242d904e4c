import { useMemo } from 'react';
import { hyperparametersOf } from '../../config/hyper';
import { coefficientOf, getObjective } from '../../objectives';
import { printExpression } from '../../objectives/custom';
import { ObjectiveFormula } from '../formula/ObjectiveFormula';
import { useConfig } from '../session';
import { setting } from '../theme/numbers';
import styles from './editor.module.css';
import { WgslListing } from './WgslListing';
import { Modal } from './Modal';
import { useInspection } from './useInspection';

/** The shader that computes the gradient of the objective in use, beside its formula and the reference that tests hold it against. */
export default function KernelDialog({ onClose }: { onClose(): void }) {
  const config = useConfig((state) => state.config);
  const objective = getObjective(config.objective);
  const kernel = useInspection(config.objective, config.customObjective);
  const reference = useMemo(() => {
    const parameters = objective.hyperparameters.map((h) => h.name);
    const [loss, coefficient] = [objective.loss, coefficientOf(objective)].map((e) => printExpression(e, parameters));
    return { loss: [...loss.lets, `loss = ${loss.text};`].join('\n'), coefficient: [...coefficient.lets, `coefficient = ${coefficient.text};`].join('\n') };
  }, [objective]);
  const hyper = hyperparametersOf(config);
  return (
    <Modal title={`The kernel of ${objective.title}`} note="WGSL as the worker compiles it: one thread per answer, loss and gradient of every token" onClose={onClose}>
      <div className={styles.columns}>
        {kernel.state === 'done' ? <WgslListing code={kernel.inspection.wgsl} /> : <p role="status">{kernel.state === 'failed' ? kernel.problem : 'Asking the trainer for the kernel.'}</p>}
        <div className={styles.side}>
          <section aria-label="Checks">
            <h3>GPU against CPU</h3>
            <p data-testid="kernel-check">
              {kernel.state !== 'done'
                ? 'Compiling the kernel.'
                : kernel.inspection.gpu
                  ? `${kernel.inspection.gpu.ok ? 'They agree' : 'They disagree'}: over ${kernel.inspection.gpu.tokens} tokens the coefficients differ by at most ${kernel.inspection.gpu.maxError.toExponential(0).replace('-', '\u2212')} of the largest.`
                  : 'Not checked: there is no WebGPU device.'}
            </p>
          </section>
          <section aria-label="Uniforms">
            <h3>Numbers in the uniform `hyper`</h3>
            <p>{objective.hyperparameters.length === 0 ? 'None.' : objective.hyperparameters.map(({ name }, i) => `${name} ${setting(hyper[name])} at [${i >> 2}].${'xyzw'[i & 3]}`).join(', ')}</p>
          </section>
          <section aria-label="CPU reference">
            <h3>CPU reference: the loss of one token, f64</h3>
            <pre className={styles.listing}>{reference.loss}</pre>
          </section>
          <section aria-label="CPU reference of the gradient">
            <h3>Its exact derivative by logp, times the weight</h3>
            <pre className={styles.listing}>{reference.coefficient}</pre>
          </section>
          <section aria-label="Formula in use">
            <h3>Formula</h3>
            <ObjectiveFormula objective={config.objective} config={config} />
          </section>
        </div>
      </div>
    </Modal>
  );
}
