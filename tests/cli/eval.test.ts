import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import golden from '../fixtures/objectives.json';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { OBJECTIVES } from '../../src/objectives';
import { GOLDEN_CASES } from '../objectives/goldenCases';
import { expectClose } from '../helpers/expectClose';

/** The command as a person runs it: a process of its own, files in, JSON out. */

interface Output {
  code: number | null;
  stdout: string;
  stderr: string;
}

function ratioscope(args: string[], stdin = ''): Promise<Output> {
  const child = spawn(process.execPath, [join(ROOT, 'cli/run.mjs'), ...args], { cwd: folder });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratioscope-eval-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, ...batches: unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${batches.map((b) => JSON.stringify(b)).join('\n')}\n`);
  return path;
}

interface Result {
  objective: string;
  loss: number;
  coefficients: number[][];
  clipped: number[][];
  advantages: number[][];
  ratios: { token: number[][]; segment: number[][]; sequence: number[] };
  metrics: { levels: Record<string, { binding: Record<'units' | 'tokens', { both: number }> }>; aliases: Record<string, number>; k1: number; clippedTokens: number };
  critic?: { value: number[]; loss: number; gradient: number[] };
  notes?: string[];
}

const results = (output: Output): Result[] => {
  expect(output.stderr).toBe('');
  expect(output.code).toBe(0);
  return output.stdout.trim().split('\n').map((line) => JSON.parse(line) as Result);
};

const list = (rows: ArrayLike<number>[]) => rows.map((row) => Array.from(row));

/** A batch of the golden file with NaN in its pads, which JSON writes as null. */
const goldenLine = ({ batch, objective, hyper, mode }: (typeof GOLDEN_CASES)[number]) => {
  const pad = (rows: ArrayLike<number>[]) => rows.map((row, i) => Array.from(row, (v, t) => (batch.mask[i][t] ? v : null)));
  return {
    objective: objective.id,
    set: { ...hyper, lossAggMode: mode },
    ...{ oldLogp: pad(batch.oldLogp), newLogp: pad(batch.newLogp), mask: list(batch.mask), segments: pad(batch.segments), advantages: pad(batch.advantages) },
    ...(batch.entropy && { entropy: pad(batch.entropy) }),
    ...(batch.maxTokens && { maxTokens: batch.maxTokens }),
  };
};

const A = golden.fixture;
const fixture = { oldLogp: A.old, newLogp: A.new, mask: A.mask, segments: A.seg, entropy: A.entropy, advantages: A.adv, maxTokens: A.Lmax };

describe('golden vectors through the command', () => {
  // f64: the vectors' six digits. WebGPU: half a digit of print and less than 1e-6 of f32.
  it.each([
    ['cpu', 1e-6],
    ['webgpu', 1.5e-6],
  ])('%s', async (device, tolerance) => {
    const input = file('golden.jsonl', ...GOLDEN_CASES.map(goldenLine));
    const all = results(await ratioscope(['eval', '--input', input, '--device', device]));
    expect(all.length).toBe(GOLDEN_CASES.length);
    all.forEach((result, i) => {
      const want = GOLDEN_CASES[i];
      expect(result.objective, want.name).toBe(want.objective.id);
      if (want.loss !== undefined) expectClose(result.loss, want.loss, tolerance, `${want.name}: loss`);
      result.coefficients.forEach((row, r) => expectClose(row, want.coefficients[r], tolerance, `${want.name}: coefficients[${r}]`));
      if (want.clipped) expect(result.clipped, want.name).toEqual(want.clipped);
      const own = result.metrics.levels[want.objective.importanceSamplingLevel].binding;
      if (want.binding?.units !== undefined) expectClose(own.units.both, want.binding.units, 1e-6, want.name);
      if (want.binding?.tokens !== undefined) expectClose([own.tokens.both, result.metrics.clippedTokens], [want.binding.tokens, want.binding.tokens], 1e-6, want.name);
    });
  });
});

describe('input', () => {
  it('levels beside the objective, in the command or in the batch', async () => {
    const batches = [{ ...fixture, set: { clipLow: 0.03, clipHigh: 0.14 } }, { ...fixture, ratioLevel: 'own', set: { clipLevel: 'own', clipLow: 0.2, clipHigh: 0.2 } }];
    const all = results(await ratioscope(['eval', '--objective', 'grpo', '--ratio-level', 'sequence', '--clip-level', 'sequence', '--input', file('levels.jsonl', ...batches)]));
    expect(all.map((r) => r.objective)).toEqual(['grpo@sequence', 'grpo']);
    expectClose(all[0].loss, golden['GSPO .03/.14'].loss, 1e-6);
    expectClose(all[0].coefficients.flat(), golden['GSPO .03/.14'].coef.flat(), 1e-6);
    expect(all[0].notes ?? []).toEqual([]);
    const refused = await ratioscope(['eval', '--objective', 'cispo', '--clip-level', 'token', '--input', file('a.json', fixture)]);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/levels of CISPO cannot be set/);
  });

  it('one object, --objective, --set and [B] advantages', async () => {
    const [result] = results(await ratioscope(['eval', '--objective', 'gspo', '--set', 'clipLow=0.03', '--set', 'clipHigh=0.14', '--input', file('a.json', fixture)]));
    const want = golden['GSPO .03/.14'];
    expectClose(result.loss, want.loss, 1e-6);
    expectClose(result.coefficients.flat(), want.coef.flat(), 1e-6);
    expectClose(result.ratios.sequence, golden.ratios.sequence, 1e-6);
    expect(result.ratios.token[0][4]).toBe(1);
    expect(result.metrics.aliases['clip_ratio/region_mean']).toBe(0.5);
  });

  it('stdin, JSON Lines, each line with its own objective and settings over those of the command', async () => {
    const lines = [fixture, { ...fixture, objective: 'grpo', set: { clipHigh: 0.28, lossAggMode: 'token-mean' } }].map((b) => JSON.stringify(b)).join('\n');
    const all = results(await ratioscope(['eval', '--objective', 'lpo', '--set', 'clipHigh=0.03', '--input', '-'], lines));
    expectClose(all.map((r) => r.loss), [golden['SSPO/LPO fixed .03 token-mean'].loss, golden['DAPO .2/.28 token-mean'].loss], 1e-6);
  });

  it('NaN and Infinity as Python writes them', async () => {
    const text = JSON.stringify(fixture).replace('7]', 'NaN]').replace('-9]', '-Infinity]');
    expect(text).toMatch(/NaN/);
    const [result] = results(await ratioscope(['eval', '--objective', 'grpo', '--input', '-'], text));
    expectClose(result.loss, golden['GRPO eps.2 seq-mean-token-mean'].loss, 1e-6);
  });

  it('tokens instead of segments, cut by the rule', async () => {
    const tokens = [['so', ',', 'x', '.', '?'], ['a', ';', 'b', '!', null]];
    const { segments: _, ...rest } = fixture;
    const [result] = results(await ratioscope(['eval', '--objective', 'lpo', '--input', file('t.json', { ...rest, tokens })]));
    expectClose(result.coefficients.flat(), golden['SSPO/LPO fixed .03 token-mean'].coef.flat(), 1e-6);
  });

  it('rewards with groups, by the trainer\'s rule and by another\'s', async () => {
    const row = { oldLogp: [[-1], [-1], [-1], [-1]], newLogp: [[-1], [-1], [-1], [-1]], mask: [[1], [1], [1], [1]], rewards: [1, 0, 0, 0], groups: ['p', 'p', 'p', 'p'] };
    const all = results(await ratioscope(['eval', '--objective', 'grpo', '--input', file('r.jsonl', row, { ...row, set: { advantageStd: 'trl' } }, { ...row, set: { advantageStd: 'none' } })]));
    const g = golden['group adv [1,0,0,0]'];
    expectClose(all[0].advantages.flat(), [0.75, -0.25, -0.25, -0.25].map((d) => d / (Math.sqrt(3) / 4 + 1e-4)), 1e-12);
    expectClose(all[1].advantages.flat(), g.A_trl, 1e-6);
    expectClose(all[2].advantages.flat(), g.A_dr, 1e-6);
    expect(all[0].notes?.join()).toMatch(/one subsentence/);
  });

  it('rewards by another objective’s rule, and by none', async () => {
    const row = { oldLogp: [[-1], [-1], [-1]], newLogp: [[-1], [-1], [-1]], mask: [[1], [1], [1]], rewards: [1, 0, 0] };
    const grouped = { ...row, groups: [0, 0, 0] };
    const lines = [{ ...grouped, set: { advantage: 'leaveOneOut' } }, { ...grouped, objective: 'drGrpo', maxTokens: 4 }, { ...row, objective: 'reinforce' }, { ...row, objective: 'rft' }];
    const all = results(await ratioscope(['eval', '--objective', 'cispo', '--set', 'beta=0', '--input', file('est.jsonl', ...lines)]));
    const want = [[1, -0.5, -0.5], [2 / 3, -1 / 3, -1 / 3], [2 / 3, -1 / 3, -1 / 3], [1, 0, 0]];
    all.forEach((result, i) => expectClose(result.advantages.flat(), want[i], 1e-12));
  });

  it('rewards with value logits for sppo: advantage, loss and critic of B1', async () => {
    const { advantages: _, ...rest } = fixture;
    const [result] = results(await ratioscope(['eval', '--objective', 'sppo', '--input', file('s.json', { ...rest, rewards: [1, 0], values: [0.4, -0.2] })]));
    const g = golden.SPPO;
    expectClose(result.loss, g.policy_loss, 1e-6);
    expectClose(result.coefficients.flat(), g.coef.flat(), 1e-6);
    expectClose([result.critic?.loss as number, ...(result.critic?.value ?? []), ...(result.critic?.gradient ?? [])], [g.bce, ...g.V, ...g.dlogit], 1e-6);
  });

  it('rewards with values per token for ppo: the golden GAE, masked slots skipped', async () => {
    const row = { oldLogp: [[-1, -1, 0, -1, -1]], newLogp: [[-1, -1, 0, -1, -1]], mask: [[1, 1, 0, 1, 1]], values: [[0.5, 0.6, null, 0.4, 0.7]] };
    const lines = [{ ...row, rewards: [1] }, { ...row, rewards: [[0, 0, null, 0, 1]], set: { gaeLambda: 1 } }, { ...row, rewards: [1], set: { whitenAdvantages: 'true' } }];
    const [lam095, lam1, white] = results(await ratioscope(['eval', '--objective', 'ppo', '--input', file('gae.jsonl', ...lines)]));
    const spread = (a: number[]) => [a[0], a[1], 0, a[2], a[3]];
    expectClose(lam095.advantages[0], spread(golden.GAE.lam095), 1e-6);
    expectClose(lam1.advantages[0], spread(golden.GAE.lam1), 1e-6);
    // On policy the coefficient is -A over the tokens.
    expectClose(lam1.coefficients[0], spread(golden.GAE.lam1.map((a) => -a / 4)), 1e-6);
    expectClose([white.advantages[0].reduce((a, b) => a + b, 0), white.advantages[0].reduce((a, b) => a + b * b, 0)], [0, 4], 1e-9);
  });

  it('bands of the other levels', async () => {
    const [result] = results(await ratioscope(['eval', '--objective', 'grpo', '--set', 'clipLowSequence=0.03', '--set', 'clipHighSequence=0.14', '--set', 'clipHighToken=0.28', '--input', file('w.json', fixture)]));
    expect(result.metrics.levels.sequence.binding.units.both).toBe(0.5);
    expectClose(result.metrics.levels.token.binding.units.both, golden['DAPO .2/.28 token-mean'].binding_frac, 1e-6);
  });

  it('--list describes every objective', async () => {
    const { code, stdout } = await ratioscope(['eval', '--list']);
    expect(code).toBe(0);
    const described = JSON.parse(stdout) as { id: string; hyperparameters: { name: string; help: string; min: number; max: number; default: number }[] }[];
    expect(described.map((o) => o.id)).toEqual(OBJECTIVES.map((o) => o.id));
    expect(described.every((o) => o.hyperparameters.every((h) => h.help && h.min <= h.default && h.default <= h.max))).toBe(true);
  });
});

describe('bad input: exit code 1 and one clear line', () => {
  const change = (patch: Record<string, unknown>) => JSON.stringify({ ...fixture, ...patch });
  const { segments: _, ...withoutSegments } = fixture;
  const { advantages: __, ...withoutAdvantages } = fixture;
  const cases: [string, string[], string, RegExp][] = [
    ['not JSON', ['--objective', 'grpo'], 'oldLogp: 1', /not JSON/],
    ['nothing', ['--objective', 'grpo'], '', /no batch/],
    ['a list of numbers', ['--objective', 'grpo'], '[1, 2]', /not a JSON object/],
    ['an unknown objective', ['--objective', 'gspoo'], change({}), /gspoo.*grpo, gspo/],
    ['no objective', [], change({}), /No objective/],
    ['an unknown setting', ['--objective', 'grpo', '--set', 'clipLo=1'], change({}), /clipLo/],
    ['a setting of another objective', ['--objective', 'grpo', '--set', 'entropyScaleLow=1'], change({}), /entropyScaleLow/],
    ['a setting out of bounds', ['--objective', 'grpo', '--set', 'clipLow=-1'], change({}), /between/],
    ['a setting that is no number', ['--objective', 'grpo', '--set', 'clipLow=wide'], change({}), /wide/],
    ['an unknown aggregation', ['--objective', 'grpo', '--set', 'lossAggMode=mean'], change({}), /mean.*token-mean/],
    ['an unknown option', ['--objective', 'grpo', '--epsilon', '1'], change({}), /--epsilon/],
    ['an unknown device', ['--objective', 'grpo', '--device', 'tpu'], change({}), /tpu/],
    ['ragged rows', ['--objective', 'grpo'], change({ newLogp: [[-1, -1], A.new[1]] }), /newLogp\[0\] has 2/],
    ['a missing row', ['--objective', 'grpo'], change({ oldLogp: [A.old[0]] }), /oldLogp has 1 rows/],
    ['a missing field', ['--objective', 'grpo'], change({ newLogp: undefined }), /newLogp is missing/],
    ['null where a token counts', ['--objective', 'grpo'], change({ newLogp: [[-0.9, null, -1.94, -0.16, 57], A.new[1]] }), /newLogp\[0\]\[1\] is null/],
    ['text where a number belongs', ['--objective', 'grpo'], change({ oldLogp: [['-1', -0.7, -2, -0.4, 7], A.old[1]] }), /oldLogp\[0\]\[0\]/],
    ['a mask of something else', ['--objective', 'grpo'], change({ mask: [[1, 1, 2, 1, 0], A.mask[1]] }), /mask\[0\]\[2\] is 2/],
    ['a response without tokens', ['--objective', 'grpo'], change({ mask: [A.mask[0], [0, 0, 0, 0, 0]] }), /mask\[1\] has no 1/],
    ['an empty mask', ['--objective', 'grpo'], change({ mask: [] }), /mask is missing or empty/],
    ['too few advantages', ['--objective', 'grpo'], change({ advantages: [1] }), /advantages must be a list of 2/],
    ['neither advantages nor rewards', ['--objective', 'grpo'], JSON.stringify(withoutAdvantages), /Neither advantages nor rewards/],
    ['rewards without groups', ['--objective', 'grpo'], JSON.stringify({ ...withoutAdvantages, rewards: [1, 0] }), /without groups/],
    ['ppo without values', ['--objective', 'ppo'], JSON.stringify({ ...withoutAdvantages, rewards: [1, 0] }), /GAE need rewards and values/],
    ['a lambda above 1', ['--objective', 'ppo', '--set', 'gaeLambda=1.5'], JSON.stringify({ ...withoutAdvantages, rewards: [1, 0] }), /between 0 and 1/],
    ['sppo without values', ['--objective', 'sppo'], JSON.stringify({ ...withoutAdvantages, rewards: [1, 0] }), /values are missing/],
    ['a subsentence ratio without subsentences', ['--objective', 'sspo'], JSON.stringify(withoutSegments), /neither segments nor tokens/],
    ['segments that fall', ['--objective', 'sspo'], change({ segments: [[1, 0, 1, 1, 0], A.seg[1]] }), /segments\[0\]\[1\] is 0 after 1/],
    ['a KL penalty without its reference', ['--objective', 'grpo', '--set', 'beta=0.1'], change({}), /refLogp is missing/],
    ['a constant divisor without its budget', ['--objective', 'grpo', '--set', 'lossAggMode=constant'], change({ maxTokens: undefined }), /maxTokens/],
  ];

  it('names what is wrong', async () => {
    // Four at a time: each is a process.
    for (let i = 0; i < cases.length; i += 4) {
      await Promise.all(
        cases.slice(i, i + 4).map(async ([name, args, input, message]) => {
          const { code, stdout, stderr } = await ratioscope(['eval', ...args, '--input', '-'], input);
          expect(code, name).toBe(1);
          expect(stdout, name).toBe('');
          expect(stderr, name).toMatch(message);
          expect(stderr.trimEnd().split('\n').length, `${name}: ${stderr}`).toBe(1);
        }),
      );
    }
  });

  it('says which batch of many', async () => {
    const { code, stderr } = await ratioscope(['eval', '--objective', 'grpo', '--input', '-'], `${change({})}\n${change({ advantages: [1] })}`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Batch 2: /)]);
  });

  it('a missing file, an unknown command, a missing option', async () => {
    for (const [args, message] of [
      [['eval', '--objective', 'grpo', '--input', 'nowhere.json'], /no file nowhere.json/],
      [['evil'], /no command "evil".*eval/],
      [['eval', '--objective', 'grpo'], /--input is missing/],
      [['eval', '--objective'], /--objective needs a value/],
    ] as const) {
      const { code, stderr } = await ratioscope([...args]);
      expect(code).toBe(1);
      expect(stderr).toMatch(message);
    }
  });
});
