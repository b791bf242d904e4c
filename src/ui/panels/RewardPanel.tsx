import { lazy, Suspense, useMemo } from 'react';
import { markLabels, rewardPoints, sparklines } from '../../store/selectors';
import { Sparklines } from '../charts/Sparklines';
import { useConfig, useRun, useSession } from '../session';
import { Answers } from './Answers';

// recharts is the largest piece of the page; the shell must not wait for it.
const RewardChart = lazy(() => import('../charts/RewardChart').then((module) => ({ default: module.RewardChart })));

export function RewardPanel({ compact = false }: { compact?: boolean }) {
  const { run } = useSession();
  const version = useRun((state) => state.version);
  const evals = useRun((state) => state.evals);
  const marks = useRun((state) => state.marks);
  const base = useRun((state) => state.base);
  const config = useConfig((state) => state.config);
  // `version` stands for the mutable history.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const points = useMemo(() => rewardPoints(run.getState()), [run, version]);
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const spark = useMemo(() => sparklines(run.getState(), config), [run, version, config]);
  const changes = useMemo(() => markLabels(marks), [marks]);
  return (
    <section className={compact ? 'reward-strip' : 'panel reward'}>
      <div className="reward-chart">
        <Suspense fallback={<p className="quiet">Drawing the reward chart</p>}>
          <RewardChart objective={config.objective} points={points} evals={evals} changes={changes} base={base} totalSteps={config.totalSteps} isSelective={config.dynamicSampling || config.overlongFilter} compact={compact} />
        </Suspense>
      </div>
      {compact ? null : (
        <>
          <div className="ruled">
            <Sparklines series={spark.series} length={spark.length} />
          </div>
          <div className="ruled">
            <Answers />
          </div>
        </>
      )}
    </section>
  );
}
