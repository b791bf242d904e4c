import { UserError } from '../src/core/errors';
import type { Level } from '../src/core/levels';
import { requestNodeGpu } from '../src/gpu/nodeGpu';
import type { GpuContext } from '../src/gpu/device';
import { runPolicyLoss } from '../src/kernels/policyLoss/runPolicyLoss';
import {
  assembleResult,
  compileTokenLoss,
  DEFAULT_WIDTHS,
  evaluateCompact,
  getObjective,
  LOSS_AGG_MODES,
  metricsOf,
  OBJECTIVES,
  withLevels,
  type ClipWidths,
  type CompactBatch,
  type LevelSettings,
  type LossAggMode,
  type Objective,
  type ObjectiveBatch,
  type TokenResults,
} from '../src/objectives';
import { parseArgs } from './args';
import { objectivesMarkdown } from './objectivesDoc';
import { choice, defaultCredit, readAdvantages, readNumber, setCredit, type CreditSettings } from './evalAdvantages';
import { readInput, readObjective } from './files';
import { parseBatches, present, readBatch, type RawBatch } from './evalInput';

const HELP = `ratioscope eval: what an objective says about a batch, as JSON.
  --objective <id>     ${OBJECTIVES.map((o) => o.id).join(', ')}; a batch may carry its own.
                       <id>@<level> or <id>@<ratio level>/<clip level> mixes levels (token, segment, sequence), e.g. sppo@sequence
  --ratio-level <level>, --clip-level <level>  the same beside an id: token, segment, sequence or own; ratioLevel and clipLevel in a batch
  --objective-file <file>  an objective of your own, as the page's editor exports it; it is checked against central differences first
  --input <file>       a JSON object, or JSON Lines (one batch, one result a line); - reads stdin
  --set name=value     any of the objective's hyperparameters (clipLow, clipHigh, dualClip, beta, ...), lossAggMode,
                       the bands of the other levels in the metrics (clipLowToken, clipHighSegment, ...),
                       and how rewards become advantages (advantage, advantageStd, baseline, normalizeAdvantage, and for gae
                       gaeGamma, gaeLambda, whitenAdvantages); may be repeated
  --device cpu|webgpu  the f64 reference (default) or the kernels
  --list               every objective with its hyperparameters, as JSON, or with --markdown as docs/objectives.md has it
Input: oldLogp, newLogp, mask [B][T]; segments (integer ids) or tokens (strings); advantages [B] or [B][T], or rewards [B] with
groups [B], or for sppo rewards [B] with values [B] (logits), or for ppo rewards [B] (with the last token) or [B][T] with values
[B][T] (V before each token); optional entropy, refLogp [B][T], maxTokens. Pads may hold null.
`;

const WIDTH_NAME = /^clip(Low|High)(Token|Segment|Sequence)$/;

/** What `--set` and a batch's `set` decide, sorted by who reads it. */
interface Settings {
  hyper: Record<string, number>;
  lossAggMode: LossAggMode;
  widths: ClipWidths;
  credit: CreditSettings;
}

/** Prints one JSON result per batch. Throws UserError on bad input. */
export async function run(argv: string[]): Promise<number> {
  const args = parseArgs(argv, { known: ['objective', 'objective-file', 'ratio-level', 'clip-level', 'input', 'set', 'device', 'list', 'markdown', 'help'], flags: ['list', 'markdown', 'help'] });
  if (args.values.help) process.stdout.write(HELP);
  else if (args.values.list) process.stdout.write(args.values.markdown ? objectivesMarkdown() : `${JSON.stringify(listObjectives(), null, 2)}\n`);
  if (args.values.help || args.values.list) return 0;

  const { input, device = 'cpu', 'objective-file': objectiveFile } = args.values;
  if (objectiveFile !== undefined && args.values.objective !== undefined) throw new UserError('--objective and --objective-file are both given.', 'Give one of them.');
  if (device !== 'cpu' && device !== 'webgpu') throw new UserError(`There is no device "${device}".`, 'Known: cpu, webgpu.');
  if (!input) throw new UserError('--input is missing.', 'Give a file, or - for stdin.');
  const objective = objectiveFile === undefined ? args.values.objective : (await readObjective(objectiveFile)).objective.id;
  const levels = { ratioLevel: args.values['ratio-level'], clipLevel: args.values['clip-level'] };
  const batches = parseBatches(await readInput(input));
  const gpu = device === 'webgpu' ? await requestNodeGpu() : null;
  try {
    const lines: string[] = [];
    for (const [i, raw] of batches.entries()) {
      try {
        lines.push(JSON.stringify(await evaluate(raw, { objective, levels, sets: args.sets }, gpu)));
      } catch (error) {
        if (error instanceof UserError && batches.length > 1) throw new UserError(`Batch ${i + 1}: ${error.message}`, error.hint);
        throw error;
      }
    }
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    gpu?.destroy();
  }
  return 0;
}

/** The metadata of every objective: what the page's controls and docs/objectives.md are made from. */
export function listObjectives() {
  return OBJECTIVES.map(({ id, title, summary, caveat, importanceSamplingLevel, lossAggMode, advantageEstimator, hyperparameters, sources }) => ({
    ...{ id, title, summary, caveat, importanceSamplingLevel, lossAggMode, lossAggModes: LOSS_AGG_MODES, advantageEstimator, hyperparameters, sources },
  }));
}

/** What the command line says of every batch that does not say otherwise. */
interface Defaults {
  objective: string | undefined;
  levels: LevelSettings;
  sets: Record<string, string>;
}

async function evaluate(raw: RawBatch, defaults: Defaults, gpu: GpuContext | null) {
  const id = raw.objective ?? defaults.objective;
  if (id === undefined) throw new UserError('No objective is named.', 'Give --objective, or "objective" in the batch.');
  const { ratioLevel, clipLevel, ...sets } = { ...defaults.sets, ...readOwnSets(raw) };
  const objective = getObjective(
    withLevels(String(id), { ratioLevel: raw.ratioLevel ?? ratioLevel ?? defaults.levels.ratioLevel, clipLevel: raw.clipLevel ?? clipLevel ?? defaults.levels.clipLevel }),
  );
  const settings = readSettings(objective, sets);
  const { notes, ...withoutAdvantages } = readBatch(raw);
  if (objective.importanceSamplingLevel === 'segment' && !present(raw.segments) && !present(raw.tokens)) {
    throw new UserError(`${objective.title} has a ratio per subsentence, but neither segments nor tokens are given.`, 'Give integer ids or the token strings [B][T].');
  }
  const { advantages, critic } = readAdvantages(raw, objective, withoutAdvantages.mask, settings.credit);
  const batch: ObjectiveBatch = { ...withoutAdvantages, advantages };
  const { compact, results, hyper } = evaluateCompact(objective, batch, settings.hyper, settings.lossAggMode);
  const used = gpu ? await onGpu(gpu, objective, compact, results, hyper) : results;
  const { loss, coefficients, ratios, clipped } = assembleResult(compact, used, batch.mask);
  const metrics = metricsOf(objective, compact, used, hyper, settings.widths);
  const rows = (table: ArrayLike<number>[]) => table.map((row) => Array.from(row));
  return {
    objective: objective.id,
    device: gpu ? `webgpu (${gpu.facts.description || gpu.facts.architecture})` : 'cpu',
    lossAggMode: settings.lossAggMode,
    hyperparameters: hyper,
    loss,
    coefficients: rows(coefficients),
    ratios: { token: rows(ratios.token), segment: rows(ratios.segment), sequence: Array.from(ratios.sequence) },
    clipped: rows(clipped),
    advantages: rows(advantages.map((row, r) => Array.from(row).map((a, t) => (batch.mask[r][t] ? a : 0)))),
    ...(critic && { critic }),
    metrics: { ...metrics, kl: { k1: metrics.k1, k3: metrics.k3 }, ess: metrics.levels[objective.importanceSamplingLevel].ess },
    ...(notes.length && { notes }),
  };
}

/** The kernel's numbers in place of the reference's; the band's widths are not its output and stay. */
async function onGpu(gpu: GpuContext, objective: Objective, c: CompactBatch, reference: TokenResults, hyper: Record<string, number>): Promise<TokenResults> {
  const inputs = { ...c, entropy: c.entropy ?? new Float64Array(c.count), newLogp: c.logp, targets: new Uint32Array(c.count), respStart: c.seqStart };
  const out = await runPolicyLoss(gpu, compileTokenLoss(objective), inputs, hyper);
  const column = (k: number) => Float64Array.from({ length: c.count }, (_, t) => out[t * 4 + k]);
  return { ...reference, coefficient: column(0), loss: column(1), logRatio: column(2), clipped: column(3) };
}

function readOwnSets(raw: RawBatch): Record<string, string> {
  if (!present(raw.set)) return {};
  if (typeof raw.set !== 'object' || Array.isArray(raw.set)) throw new UserError('"set" must be an object of names and values.');
  return Object.fromEntries(Object.entries(raw.set as object).map(([name, value]) => [name, String(value)]));
}

function readSettings(objective: Objective, sets: Record<string, string>): Settings {
  const settings: Settings = {
    hyper: {},
    lossAggMode: objective.lossAggMode,
    widths: structuredClone(DEFAULT_WIDTHS),
    credit: defaultCredit(),
  };
  for (const [name, text] of Object.entries(sets)) {
    const width = WIDTH_NAME.exec(name);
    if (name === 'lossAggMode') settings.lossAggMode = choice(name, text, LOSS_AGG_MODES);
    else if (setCredit(settings.credit, name, text)) continue;
    else if (width) setWidth(settings, objective, width, readNumber(name, text));
    else settings.hyper[name] = readNumber(name, text);
  }
  return settings;
}

/** The own level's band is the objective's hyperparameter; the others only serve the metrics. */
function setWidth(settings: Settings, objective: Objective, [name, side, levelName]: RegExpExecArray, value: number): void {
  if (value < 0) throw new UserError(`${name} = ${value} is negative.`, 'A clip width is 0 or more.');
  const level = levelName.toLowerCase() as Level;
  const isOwn = level === objective.importanceSamplingLevel && objective.hyperparameters.some((h) => h.name === `clip${side}`);
  if (isOwn) settings.hyper[`clip${side}`] ??= value;
  else settings.widths[level][side === 'Low' ? 'low' : 'high'] = value;
}
