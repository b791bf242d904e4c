import golden from '../fixtures/objectives.json';
import { getObjective, OBJECTIVES, type LossAggMode, type Objective, type ObjectiveBatch } from '../../src/objectives';

/** The cases of the golden file (algorithms.md section 10) that concern the objectives here, each as a batch with its answers. */
export interface GoldenCase {
  name: string;
  objective: Objective;
  hyper: Record<string, number>;
  mode: LossAggMode;
  batch: ObjectiveBatch;
  loss?: number;
  /** Masked slots hold 0. */
  coefficients: number[][];
  /** Per token. */
  clipped?: number[][];
  /** Binding fractions at the own level. */
  binding?: { units?: number; tokens?: number; low?: number; high?: number };
  outsideTokens?: number;
}

/** Fixture A: two responses, pads full of garbage. */
export function fixtureA(): ObjectiveBatch {
  const { old, new: newLogp, mask, seg, entropy, adv, Lmax } = golden.fixture;
  return { oldLogp: old, newLogp, mask, segments: seg, entropy, advantages: mask.map((row, i) => row.map(() => adv[i])), maxTokens: Lmax };
}

const bySequence = (flags: number[]) => golden.fixture.mask.map((row, i) => row.map((m) => (m ? flags[i] : 0)));
const bySegment = (flags: number[][]) => golden.fixture.seg.map((row, i) => row.map((k) => (k >= 0 ? flags[i][k] : 0)));

interface TokenCase {
  loss: number;
  coef: number[][];
  clipped: number[][];
  binding_frac: number;
  outside_frac: number;
  low_frac: number;
  high_frac: number;
}
interface SequenceCase {
  loss: number;
  coef: number[][];
  clipped?: number[];
  binding_frac_per_sequence?: number;
  binding_frac_token_weighted?: number;
}
interface SegmentCase {
  loss: number;
  coef: number[][];
  clipped_segments: number[][];
  binding_frac_segment: number;
  binding_frac_token: number;
}

const make = (name: string, id: string, hyper: Record<string, number>, mode: LossAggMode, loss: number, coefficients: number[][]): GoldenCase => ({
  name,
  objective: getObjective(id),
  hyper,
  mode,
  batch: fixtureA(),
  loss,
  coefficients,
});

const token = (name: string, key: keyof typeof golden, hyper: Record<string, number>, mode: LossAggMode, id = 'grpo'): GoldenCase => {
  const g = golden[key] as TokenCase;
  return {
    ...make(name, id, hyper, mode, g.loss, g.coef),
    clipped: g.clipped,
    binding: { units: g.binding_frac, tokens: g.binding_frac, low: g.low_frac, high: g.high_frac },
    outsideTokens: g.outside_frac,
  };
};
const sequence = (name: string, key: keyof typeof golden, clipLow: number, clipHigh: number, mode: LossAggMode, id = 'gspo'): GoldenCase => {
  const g = golden[key] as SequenceCase;
  return {
    ...make(name, id, { clipLow, clipHigh }, mode, g.loss, g.coef),
    ...(g.clipped && { clipped: bySequence(g.clipped) }),
    ...(g.binding_frac_per_sequence !== undefined && { binding: { units: g.binding_frac_per_sequence, tokens: g.binding_frac_token_weighted as number } }),
  };
};
const segment = (name: string, id: string, key: keyof typeof golden, eps: number, mode: LossAggMode, scaled = false): GoldenCase => {
  const g = golden[key] as SegmentCase;
  const scales: Record<string, number> = id === 'sspo' && !scaled ? { entropyScaleLow: 1, entropyScaleHigh: 1 } : {};
  return {
    ...make(name, id, { clipLow: eps, clipHigh: eps, ...scales }, mode, g.loss, g.coef),
    clipped: bySegment(g.clipped_segments),
    binding: { units: g.binding_frac_segment, tokens: g.binding_frac_token },
  };
};

/** A case that gives loss, coefficients and, where it has any, clip flags by token. */
const plain = (name: string, id: string, key: keyof typeof golden, hyper: Record<string, number>, mode: LossAggMode): GoldenCase => {
  const g = golden[key] as { loss: number; coef: number[][]; clipped?: number[][]; binding_frac?: number };
  return {
    ...make(name, id, hyper, mode, g.loss, g.coef),
    clipped: g.clipped ?? golden.fixture.mask.map((row) => row.map(() => 0)),
    ...(g.binding_frac !== undefined && { binding: { units: g.binding_frac, tokens: g.binding_frac } }),
  };
};

/** GSPO-token with an advantage of its own for every token. */
function perTokenCase(): GoldenCase {
  const key = 'GSPO-token eps.03, per-token advantages';
  const base = plain('G3 GSPO-token, per-token advantages', 'gspoToken', key, { clipLow: 0.03, clipHigh: 0.03 }, 'seq-mean-token-mean');
  return { ...base, batch: { ...fixtureA(), advantages: golden[key].adv } };
}

function sppoCase(): GoldenCase {
  const g = golden.SPPO;
  const base = make('B1 SPPO', 'sppo', {}, 'token-mean', g.policy_loss, g.coef);
  // A is printed to six digits; R - sigmoid(logit) is exact.
  const exact = [1 - 1 / (1 + Math.exp(-0.4)), -1 / (1 + Math.exp(0.2))];
  return { ...base, batch: { ...fixtureA(), advantages: golden.fixture.mask.map((row, i) => row.map(() => exact[i])) }, clipped: g.clipped };
}

/** One token at weight 1: [loss, dL/dlogp, with c = 3: loss, dL/dlogp]. */
function quadrantCases(): GoldenCase[] {
  const deltas = [-1.5, -0.1, 0.1, 1.5];
  const entries = Object.entries(golden['quadrants [loss, dL/dlogp, loss with c=3, dL/dlogp with c=3]']);
  return entries.flatMap(([label, [loss, gradient, dualLoss, dualGradient]], i) => {
    const delta = deltas[i % deltas.length];
    const batch: ObjectiveBatch = { oldLogp: [[-2]], newLogp: [[-2 + delta]], mask: [[1]], segments: [[0]], advantages: [[i < 4 ? 1 : -1]] };
    const one = (name: string, dualClip: number, l: number, c: number): GoldenCase => ({
      ...make(`quadrant ${label}${name}`, 'grpo', { clipLow: 0.2, clipHigh: 0.2, dualClip }, 'token-mean', l, [[c]]),
      batch,
      clipped: [[c === 0 ? 1 : 0]],
    });
    return [one('', 0, loss, gradient), one(', dual clip 3', 3, dualLoss, dualGradient)];
  });
}

function onPolicyCases(): GoldenCase[] {
  const g = golden['on-policy (all ratios 1) coef: GRPO/token-mean/Dr/GSPO'];
  const a = fixtureA();
  const batch = { ...a, newLogp: a.oldLogp };
  const modes: [string, LossAggMode, number[]][] = [
    ['seq-mean', 'seq-mean-token-mean', g.grpo],
    ['token-mean', 'token-mean', g.tokmean],
    ['constant', 'constant', g.dr],
  ];
  // RFT drops failures, so its coefficients at A < 0 are 0 and not those of the others (tests/objectives/family.test.ts).
  return OBJECTIVES.map((o) => o.id).filter((id) => id !== 'rft').flatMap((id) =>
    modes.map(([label, mode, c]) => ({
      name: `on-policy ${id} ${label}`,
      objective: getObjective(id),
      hyper: {},
      mode,
      batch,
      coefficients: golden.fixture.mask.map((row, i) => row.map((m) => (m ? c[i] : 0))),
      clipped: golden.fixture.mask.map((row) => row.map(() => 0)),
    })),
  );
}

/** Without a ratio the gradient is the on-policy one wherever the policy has gone; RFT has it for successes alone. */
function ratioFreeCases(): GoldenCase[] {
  const { tokmean: c } = golden['on-policy (all ratios 1) coef: GRPO/token-mean/Dr/GSPO'];
  return [['reinforce', c] as const, ['rft', [c[0], 0]] as const].map(([id, [right, wrong]]) => ({
    name: `off-policy ${id} token-mean`,
    objective: getObjective(id),
    hyper: {},
    mode: 'token-mean',
    batch: fixtureA(),
    coefficients: golden.fixture.mask.map((row, i) => row.map((m) => (m ? [right, wrong][i] : 0))),
    clipped: golden.fixture.mask.map((row, i) => row.map((m) => (m && id === 'rft' && i === 1 ? 1 : 0))),
  }));
}

export const GOLDEN_CASES: readonly GoldenCase[] = [
  token('T1 GRPO seq-mean-token-mean', 'GRPO eps.2 seq-mean-token-mean', {}, 'seq-mean-token-mean'),
  token('T2 GRPO token-mean', 'GRPO eps.2 token-mean', {}, 'token-mean'),
  token('T3 DAPO band, token-mean', 'DAPO .2/.28 token-mean', { clipHigh: 0.28 }, 'token-mean'),
  token('T4 GRPO with the constant divisor', 'Dr.GRPO eps.2 const Lmax=5', {}, 'constant'),
  sequence('S1 GSPO paper', 'GSPO 3e-4/4e-4', 3e-4, 4e-4, 'seq-mean-token-mean'),
  sequence('S2 GSPO .2', 'GSPO eps.2', 0.2, 0.2, 'seq-mean-token-mean'),
  sequence('S3 GSPO .03/.14', 'GSPO .03/.14', 0.03, 0.14, 'seq-mean-token-mean'),
  sequence('S4 GSPO with token-mean', 'GSPO eps.2 + token-mean (the length-weighted accident)', 0.2, 0.2, 'token-mean'),
  segment('P1 LPO .03 token-mean', 'lpo', 'SSPO/LPO fixed .03 token-mean', 0.03, 'token-mean'),
  segment('P1 SSPO .03 without scaling', 'sspo', 'SSPO/LPO fixed .03 token-mean', 0.03, 'token-mean'),
  segment('LPO .03 seq-mean-token-mean', 'lpo', 'SSPO/LPO fixed .03 seq-mean-token-mean', 0.03, 'seq-mean-token-mean'),
  segment('P2 SSPO .10 fixed token-mean', 'sspo', 'SSPO fixed .10 token-mean', 0.1, 'token-mean'),
  segment('SSPO .10 fixed seq-mean-token-mean', 'sspo', 'SSPO fixed .10 seq-mean-token-mean', 0.1, 'seq-mean-token-mean'),
  segment('P3 SSPO adaptive token-mean', 'sspo', 'SSPO adaptive base .10 token-mean', 0.1, 'token-mean', true),
  segment('P4 SSPO adaptive seq-mean-token-mean', 'sspo', 'SSPO adaptive base .10 seq-mean-token-mean', 0.1, 'seq-mean-token-mean', true),
  sppoCase(),
  token('T3 DAPO', 'DAPO .2/.28 token-mean', {}, 'token-mean', 'dapo'),
  token('T4 Dr.GRPO', 'Dr.GRPO eps.2 const Lmax=5', {}, 'constant', 'drGrpo'),
  sequence('S1 GSPO-token paper', 'GSPO 3e-4/4e-4', 3e-4, 4e-4, 'seq-mean-token-mean', 'gspoToken'),
  sequence('S2 GSPO-token .2', 'GSPO eps.2', 0.2, 0.2, 'seq-mean-token-mean', 'gspoToken'),
  sequence('S3 GSPO-token .03/.14', 'GSPO .03/.14', 0.03, 0.14, 'seq-mean-token-mean', 'gspoToken'),
  perTokenCase(),
  plain('M1 GMPO log .4', 'gmpo', 'GMPO log .4', {}, 'seq-mean-token-mean'),
  plain('M2 GMPO log .25', 'gmpo', 'GMPO log .25', { clipLow: 0.25, clipHigh: 0.25 }, 'seq-mean-token-mean'),
  plain('C1 CISPO cap 1.28', 'cispo', 'CISPO cap 1.28 no floor', { cap: 1.28 }, 'token-mean'),
  plain('C2 CISPO cap 5', 'cispo', 'CISPO cap 5 no floor', {}, 'token-mean'),
  plain('C3 CISPO verl band', 'cispo', 'CISPO verl band [.8,1.2]', { floor: 0.8, cap: 1.2 }, 'token-mean'),
  plain('C4 CISPO cap .2, the trap', 'cispo', 'CISPO TRL default mistake cap 0.2', { cap: 0.2 }, 'token-mean'),
  plain('D1 DCPO .16/.2', 'dcpo', 'DCPO .16/.2 token-mean', {}, 'token-mean'),
  plain('A1 SAPO 1/1.05', 'sapo', 'SAPO 1/1.05', {}, 'seq-mean-token-mean'),
  token('T2 PPO', 'GRPO eps.2 token-mean', {}, 'token-mean', 'ppo'),
  ...ratioFreeCases(),
  ...quadrantCases(),
  ...onPolicyCases(),
];
