import { useState } from 'react';
import { objectiveTitle } from '../charts/looks';
import { knowsCritic } from '../../store/critic';
import { Button } from '../controls/Button';
import { Segmented, type SegmentedOption } from '../controls/Segmented';
import { CriticPanel } from '../critic/CriticPanel';
import { openDialog } from '../editor/dialogs';
import { ObjectiveFormula } from '../formula/ObjectiveFormula';
import { useConfig, useRun } from '../session';
import { Rollouts } from '../text/Rollouts';
import { CrossIcon } from '../theme/icons';
import { TokenInspector } from '../text/TokenInspector';
import type { BatchView } from './batchView';

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

/** One token's numbers; `compact` for the phone. */
export function Inspector({ view, compact = false }: { view: BatchView; compact?: boolean }) {
  const config = useConfig((state) => state.config);
  return <TokenInspector batch={view.batch} config={config} selected={view.selected} compact={compact} />;
}

/** The objective in use as a formula. */
export function Formula() {
  const config = useConfig((state) => state.config);
  return (
    <>
      <div className="formula-actions">
        <Button kind="ghost" onClick={() => openDialog('editor')}>
          {config.customObjective === '' ? 'Write your own' : 'Edit the text'}
        </Button>
        <Button kind="ghost" onClick={() => openDialog('kernel')}>
          Show the kernel
        </Button>
      </div>
      <ObjectiveFormula objective={config.objective} config={config} />
    </>
  );
}

type Side = 'formula' | 'critic';
const SIDES: readonly SegmentedOption<Side>[] = [
  { value: 'formula', label: 'Formula' },
  { value: 'critic', label: 'Critic' },
];

/** The formula that runs, or its critic where it has one; while a token is chosen, what the formula did to it. */
export function FormulaOrToken({ view }: { view: BatchView }) {
  const config = useConfig((state) => state.config);
  const [side, setSide] = useState<Side>('formula');
  if (view.selected) {
    return (
      <>
        <Inspector view={view} />
        <Button kind="ghost" className="panel-close" aria-label="Back to the formula" title="Back to the formula" onClick={() => view.select(null)}>
          <CrossIcon />
        </Button>
      </>
    );
  }
  const title = objectiveTitle(config.objective);
  const hasCritic = knowsCritic(config);
  const showsCritic = hasCritic && side === 'critic';
  return (
    <>
      <header className="formula-head">
        <h2>{showsCritic ? `What ${title}\u2019s critic learns` : `${title} as it runs`}</h2>
        {hasCritic ? <Segmented label="Shown here" className="formula-side" value={side} onChange={(next) => setSide(next)} options={SIDES} /> : <span className="quiet">{view.batch ? 'choose a token to see what it did' : 'the loss, minimised'}</span>}
      </header>
      {showsCritic ? <CriticPanel /> : <Formula />}
    </>
  );
}
