import type { ModelId } from '../src/model/config';
import { mean, sampleSd, type RunSummary } from './summary';
import type { Condition, NativeRow } from './tableConditions';

/** A share as the study prints it: ".925", ".0026", "0". */
export function share(x: number): string {
  if (x === 0) return '0';
  if (x >= 0.0995) return x.toFixed(3).replace(/^0/, '');
  if (x < 1e-5) return x.toExponential(0);
  return x.toPrecision(2).replace(/^0/, '');
}

/** Mean and sample sd over seeds. */
function spread(x: readonly number[]): string {
  return x.length < 2 ? share(mean(x)) : `${share(mean(x))} ± ${share(sampleSd(x))}`;
}

function stepsTo85(runs: readonly RunSummary[]): string {
  const reached = runs.map((r) => r.stepsTo85).filter((s) => s !== null);
  if (reached.length === 0) return 'never';
  return `${Math.round(mean(reached))}${reached.length < runs.length ? ` (${reached.length} of ${runs.length})` : ''}`;
}

function line({ model, condition, runs }: { model: ModelId; condition: Condition; runs: readonly RunSummary[] }): string {
  // Where the study has no number for this size, its number for the other one stands, and says so.
  const other: ModelId = model === 'small' ? 'main' : 'small';
  const native = (key: keyof NativeRow): string => {
    const [same, foreign] = [condition.native[model]?.[key], condition.native[other]?.[key]];
    return same ?? (foreign === undefined ? '–' : `${foreign} (${other})`);
  };
  const of = (pick: (r: RunSummary) => number): string => spread(runs.map(pick));
  return [
    condition.title, String(runs.length), String(condition.steps[model]), of((r) => r.rewardFirst), of((r) => r.rewardLast5), native('end'),
    of((r) => r.evalSampled), native('ev'), of((r) => r.evalGreedy), stepsTo85(runs), of((r) => r.clippedLiveTokens), native('clip'), of((r) => r.gradientClipped),
  ].join(' | ');
}

const HEAD = [
  'condition', 'n', 'steps', 'first', 'end', 'end, native', 'held-out T=1', 'native', 'held-out greedy', 'steps to .85', 'tokens clipped', 'native', 'gradient clipped',
];

/** docs/measured.md: what this engine measures, beside what the native study measured. */
export function measuredTable(results: readonly { model: ModelId; condition: Condition; runs: readonly RunSummary[] }[]): string {
  const parts = [
    '# Measured with this engine',
    '',
    'Written by `npm run -s ratioscope -- table`; single runs are in `bench/results`. Mean ± sample standard deviation over RL seeds 1 to n, from the shipped base policy, which is not the one of the native study.',
    '“first” and “end” are the mean reward of the first step and of the last five; “held-out” is measured after the last step; “steps to .85” is the first step at which the mean of five rewards reaches .85. ' +
      '“tokens clipped” is the share of live tokens (advantage not 0) whose gradient the objective’s clip cut, averaged over all minibatches; “gradient clipped” weighs them by |A|·w·min(ratio, 5)·(1 − π).',
    '“native” columns are the f32 study that chose the settings; a number of the study’s other model size is marked (main) or (small), – where it has none. What differs and why: measured-reading.md.',
  ];
  for (const model of ['small', 'main'] as const) {
    const present = results.filter((r) => r.model === model && r.runs.length > 0);
    if (present.length === 0) continue;
    const adapters = [...new Set(present.flatMap((r) => r.runs.map((run) => run.adapter)))];
    const runs = present.flatMap((r) => r.runs);
    parts.push(
      '', `## Model ${model}`, '',
      `Adapter: ${adapters.join(', ')}. Mean speed ${mean(runs.map((r) => r.stepsPerSecond)).toFixed(2)} steps/s, ${Math.round(mean(runs.map((r) => r.tokensPerSecond)))} sampled tokens/s, training included.`,
      '', `| ${HEAD.join(' | ')} |`, `|${HEAD.map(() => '---').join('|')}|`,
      ...present.map((r) => `| ${line(r)} |`),
    );
  }
  return `${parts.join('\n')}\n`;
}
