import { Suspense } from 'react';
import { Rollouts } from '../text/Rollouts';
import { useConfig, useRun } from '../session';
import type { BatchView } from './batchView';

const TokenInspector = (_: { batch: unknown; config: unknown; selected: unknown; compact: boolean }) => <p className="quiet">Choose a token to see its numbers.</p>;
const ObjectiveFormula = (_: { objective: string; config: unknown }) => null;

export function RolloutsPanel({ view, compact = false }: { view: BatchView; compact?: boolean }) {
  const config = useConfig((state) => state.config);
  const answers = useRun((state) => state.baseAnswers);
  return (
    <section className={compact ? 'rollouts-strip' : 'panel rollouts'}>
      <Rollouts
        batch={view.batch}
        config={config}
        group={view.group}
        onGroup={view.setGroup}
        selected={view.selected}
        onSelect={view.select}
        steps={view.steps}
        onStep={view.setStep}
        answers={answers}
        compact={compact}
      />
    </section>
  );
}

export function Inspector({ view, compact = false }: { view: BatchView; compact?: boolean }) {
  const config = useConfig((state) => state.config);
  return (
    <Suspense fallback={<p className="quiet">Setting the formulas</p>}>
      <TokenInspector batch={view.batch} config={config} selected={view.selected} compact={compact} />
    </Suspense>
  );
}

/** The objective in use as a formula. */
export function Formula() {
  const config = useConfig((state) => state.config);
  return (
    <Suspense fallback={<p className="quiet">Setting the formula</p>}>
      <ObjectiveFormula objective={config.objective} config={config} />
    </Suspense>
  );
}
