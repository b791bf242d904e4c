import { findPreset } from '../src/config/presets';
import type { RunConfig } from '../src/config/runConfig';
import { invariant } from '../src/core/errors';
import type { ModelId } from '../src/model/config';

/** What the native study measured (experiments.md sections 1 to 3b): mean ± sample sd, or a single mean. */
export interface NativeRow {
  /** Mean rollout reward of the last five steps. */
  end?: string;
  /** Held-out prompts at temperature 1. */
  ev?: string;
  /** Share of tokens clipped, over live tokens and all minibatches. */
  clip?: string;
}

/** One line of the table: a preset, perhaps with changes, trained from the same base policy with several seeds. */
export interface Condition {
  id: string;
  title: string;
  preset: string;
  patch?: Partial<RunConfig>;
  /** Iterations by model size. */
  steps: Record<ModelId, number>;
  native: Partial<Record<ModelId, NativeRow>>;
}

const sixty = { main: 60, small: 60 };

/** A condition that is a preset as it stands. */
function fromPreset(id: string): Condition {
  const preset = findPreset(id);
  invariant(preset, `no preset ${id}`);
  return { id, title: preset.title, preset: id, steps: sixty, native: {} };
}

export const CONDITIONS: readonly Condition[] = [
  {
    id: 'grpo', title: 'GRPO .2', preset: 'grpo', steps: sixty,
    native: { main: { end: '.925 ± .012', ev: '.945', clip: '.0026' }, small: { end: '.91 ± .03', ev: '.86' } },
  },
  { id: 'gspo', title: 'GSPO .01 (sized)', preset: 'gspo', steps: sixty, native: { main: { end: '.920 ± .019', ev: '.941', clip: '.059' } } },
  { id: 'sspo', title: 'SSPO .05', preset: 'sspo', steps: sixty, native: { main: { end: '.903 ± .012', ev: '.931', clip: '.0067' } } },
  {
    id: 'sppo', title: 'SPPO, one answer per prompt', preset: 'sppo', steps: { main: 60, small: 120 },
    native: { main: { end: '.938 ± .013', ev: '.949', clip: '.0010' }, small: { end: '.87', ev: '.88' } },
  },
  {
    id: 'ppo', title: 'PPO, token critic, one answer per prompt', preset: 'ppo', steps: { main: 60, small: 120 },
    native: { main: { end: '.947 ± .016', ev: '.955', clip: '.0010' } },
  },
  { id: 'gspo-borrowed', title: 'GSPO .2 (borrowed)', preset: 'gspo-borrowed', steps: sixty, native: { main: { end: '.893 ± .024', ev: '.928', clip: '.00006' } } },
  { id: 'gspo-paper', title: 'GSPO 3e-4/4e-4 (paper)', preset: 'gspo-paper', steps: sixty, native: { main: { end: '.898 ± .017', ev: '.923', clip: '.41' } } },
  { id: 'sspo-wide', title: 'SSPO .2', preset: 'sspo-wide', steps: sixty, native: { main: { end: '.909 ± .026', ev: '.925', clip: '.0003' } } },
  { id: 'shuffled', title: 'Control: GRPO, rewards shuffled', preset: 'grpo', patch: { shuffleRewards: true }, steps: sixty, native: {} },
  {
    id: 'e5m2-grpo', title: 'E5M2 rollouts, GRPO .2', preset: 'fp8-wide', steps: sixty,
    native: { main: { end: '.33 ± .08', ev: '.42', clip: '.031' }, small: { end: '.18 ± .13' } },
  },
  {
    id: 'e5m2-sspo', title: 'E5M2 rollouts, SSPO .2', preset: 'fp8-wide', patch: { objective: 'sspo' }, steps: sixty,
    native: { main: { end: '.89 ± .05', ev: '.91', clip: '.005' }, small: { end: '.80 ± .03' } },
  },
  {
    id: 'e5m2-gspo', title: 'E5M2 rollouts, GSPO .2', preset: 'fp8-wide', patch: { objective: 'gspo' }, steps: sixty,
    native: { main: { end: '.93 ± .01', ev: '.89', clip: '.002' }, small: { end: '.77 ± .07' } },
  },
  {
    id: 'e5m2-grpo-recomputed', title: 'E5M2 rollouts, GRPO .2, old log-probs recomputed', preset: 'fp8-wide', patch: { oldLogpSource: 'trainer' }, steps: sixty,
    native: { main: { end: '.90 ± .02', ev: '.91', clip: '.003' } },
  },
  ...['drGrpo', 'dapo', 'gspoToken', 'gmpo', 'gmpo-paper', 'cispo', 'cispo-trap', 'dcpo', 'sapo', 'reinforce', 'rloo'].map(fromPreset),
  ...['sppo-segment', 'sppo-sequence'].map((id) => ({ ...fromPreset(id), steps: { main: 60, small: 120 } })),
  { ...fromPreset('lpo'), title: 'LPO .03' },
  // The native study's reference was SPPO with the baseline 0; here log-likelihood of right answers, the same thing while ratios are 1.
  { ...fromPreset('rft'), steps: { main: 60, small: 120 }, native: { main: { end: '.990 ± .001' } } },
  { ...fromPreset('fp8-truncated'), title: 'E5M2 rollouts, GRPO, recomputed, token weights truncated at 2' },
  { ...fromPreset('fp8-masked'), title: 'E5M2 rollouts, GRPO, recomputed, answers masked above 3' },
];
