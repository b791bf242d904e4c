import { getObjective } from '../../objectives';
import { Button } from '../controls/Button';
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

/** The formula that runs; while a token is chosen, what the formula did to it. */
export function FormulaOrToken({ view }: { view: BatchView }) {
  const objective = useConfig((state) => state.config.objective);
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
  return (
    <>
      <header className="formula-head">
        <h2>{getObjective(objective).title} as it runs</h2>
        <span className="quiet">{view.batch ? 'choose a token to see what it did' : 'the loss, minimised'}</span>
      </header>
      <Formula />
    </>
  );
}
