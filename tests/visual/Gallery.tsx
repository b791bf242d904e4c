import { useState } from 'react';
import { criticView } from '../../src/store/critic';
import { applyEvents, initialRunState, type RunState } from '../../src/store/runStore';
import { RewardChart } from '../../src/ui/charts/RewardChart';
import { Sparklines } from '../../src/ui/charts/Sparklines';
import { ThreeRulers } from '../../src/ui/charts/ThreeRulers';
import type { RulerScale, TokenAddress } from '../../src/ui/charts/types';
import { CriticPictures } from '../../src/ui/critic/CriticPictures';
import { ObjectiveFormula } from '../../src/ui/formula/ObjectiveFormula';
import { Rollouts } from '../../src/ui/text/Rollouts';
import { TokenInspector } from '../../src/ui/text/TokenInspector';
import type { WorkerEvent } from '../../src/worker/protocol';
import { FakeClient } from '../helpers/fakeClient';
import { CLIP, CONFIG, fakeBatch, fakeEvals, fakeRewards, fakeSeries, fakeUpdates } from './fakeData';

const rewards = fakeRewards(1, 34);
const evals = fakeEvals(7);
const sparks = [
  { id: 'entropy', label: 'Entropy', unit: 'nats', values: fakeSeries(1, 34, 0.5, 0.14), format: 'decimal' as const },
  { id: 'grad', label: 'Grad norm', unit: '', values: fakeSeries(2, 34, 0.9, 0.61), format: 'decimal' as const },
  { id: 'live', label: 'Live groups', unit: '', values: fakeSeries(4, 34, 0.9, 0.42), format: 'percent' as const },
];
const answers = [
  { step: 0, prompt: '_28+_13=', response: 'u8+3=11.t2+1=3.31;', correct: false, expected: '41;' },
  { step: 0, prompt: '147+285=', response: 'u7+5=12.so,t4+8=12.h1+2=3.322;', correct: false, expected: '432;' },
  { step: 0, prompt: '_21+_34=', response: 'u1+4=5.t2+3=5.55;', correct: true, expected: '55;' },
];

/** A run of an invented worker, so many iterations long. */
function inventedRun(objective: string, steps: number): RunState {
  const client = new FakeClient();
  const events: WorkerEvent[] = [];
  client.onAny((event) => events.push(event));
  client.send({ type: 'init', config: { ...CONFIG, objective, groupSize: objective === 'sppo' || objective === 'ppo' ? 1 : 8 }, modelsUrl: '' });
  client.send({ type: 'step', count: steps });
  client.dispose();
  return applyEvents(initialRunState(), events);
}

/** All pictures with invented data, laid out as on the page. */
export function Gallery({ view, objective }: { view: string; objective: string }) {
  const [scale, setScale] = useState<RulerScale>(view === 'linear' ? 'linear' : 'log');
  const [batch] = useState(() => (objective === 'sppo' || objective === 'ppo' ? fakeBatch(5, objective, 32, 1) : fakeBatch(5, objective, 16, 8)));
  const [group, setGroup] = useState(0);
  const [selected, setSelected] = useState<TokenAddress | null>(view === 'empty' ? null : { completion: 0, token: [...(batch.completions[0]?.tokens ?? [])].findIndex((token, i, all) => token === '+' && all[i + 1] === '1') });
  const compact = view === 'phone';
  const [invented] = useState(() => inventedRun(objective, view === 'empty' ? 0 : 24));
  const critic = criticView(invented, { ...CONFIG, objective });
  const isEmpty = view === 'empty';
  const flat = view === 'flat';
  const [updates] = useState(() => (isEmpty ? [] : flat ? fakeUpdates(3, 5, 1, 1, objective) : view === 'few' ? fakeUpdates(3, 3, 4, 0.2, objective) : fakeUpdates(3, 5, 16, 1, objective)));
  const panel = compact ? 'panel' : 'panel tall';
  const low = compact ? 'panel' : 'panel low';
  return (
    <div className={`gallery ${compact ? 'phone' : 'main'}`}>
      <div className={compact ? 'row' : 'row top'}>
        <div className={panel}>
          <RewardChart
            objective={objective}
            points={isEmpty ? [] : rewards}
            evals={isEmpty ? evals.slice(0, 1) : evals}
            changes={isEmpty ? [] : [{ step: 12, label: 'epochs 1 → 4' }]}
            base={{ passRate: 0.35, greedy: 0.41 }}
            totalSteps={60}
            compact={compact}
          />
          {!compact && <Sparklines series={isEmpty ? sparks.map((s) => ({ ...s, values: [] })) : sparks} length={60} />}
        </div>
        <div className={panel}>
          <ThreeRulers
            objective={objective}
            updates={updates}
            clip={CLIP}
            updatesPerRollout={flat ? 1 : CONFIG.minibatches * CONFIG.epochs}
            onPolicy={flat}
            onShowDial={() => undefined}
            scale={scale}
            onScale={setScale}
            compact={compact}
          />
        </div>
      </div>
      <div className={compact ? 'row' : 'row bottom'}>
        <div className={low}>
          <Rollouts batch={isEmpty ? null : batch} group={group} onGroup={setGroup} selected={selected} onSelect={setSelected} steps={[33, 34, 35]} onStep={() => undefined} answers={answers} compact={compact} />
        </div>
        <div className={low}>
          <TokenInspector batch={isEmpty ? null : batch} selected={selected} compact={compact} />
        </div>
      </div>
      <div className={compact ? 'row' : 'row bottom'}>
        <div className="panel">
          {critic ? <div className="critic"><CriticPictures view={critic} batches={invented.batches} config={{ objective, totalSteps: 60 }} /></div> : null}
          <ObjectiveFormula objective={objective} config={{ ...CONFIG, objective, beta: view === 'kl' ? 0.04 : 0, dualClip: objective === 'sppo' ? 3 : 0 }} />
        </div>
      </div>
    </div>
  );
}
