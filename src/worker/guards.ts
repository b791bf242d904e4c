import { isCustom } from '../config/custom';
import { FIELD_NAMES, fieldOf, isFieldName } from '../config/fields';
import type { Problem } from '../config/fieldTypes';
import type { RunConfig } from '../config/runConfig';
import type { AdapterReport, Fallback } from '../engines/engine';
import type { AdapterFacts } from '../gpu/device';
import { mixtureOf } from '../objectives';
import type { BatchMetrics, Fractions, LevelMetrics, LowHigh } from '../objectives/types';
import type { BatchRecord, CompletionRecord, CriticReport, EvalReport, LossInspection, ShowcaseAnswer, StepReport, UpdateReport, WorkerCommand, WorkerEvent } from './protocol';
import { isCheckpoint } from './checkpointGuard';
import { ENGINE_WISHES } from './environment';
import { arrayOf, dictionaryOf, isBoolean, isCount, isFloats, isNumber, isRecord, isString, isUints, nullable, oneOf, record, recordWith, tagged } from './shape';
import type { Guard } from './shape';

/** True when every setting present has the kind its field asks for; bounds are validateConfig's business. */
function hasRightKinds(value: Record<string, unknown>): boolean {
  return Object.entries(value).every(([name, v]) => {
    if (!isFieldName(name)) return false;
    const field = fieldOf(name);
    if (field.kind === 'bool') return typeof v === 'boolean';
    if (field.kind === 'text') return typeof v === 'string' && v.length <= field.maxLength;
    if (name === 'objective' && (isCustom(v) || (typeof v === 'string' && mixtureOf(v) !== null))) return true;
    if (field.kind === 'choice') return field.choices.some((c) => c.value === v);
    return typeof v === 'number' && Number.isFinite(v);
  });
}

const isPatch: Guard<Partial<RunConfig>> = (value): value is Partial<RunConfig> =>
  isRecord(value) && hasRightKinds(value);

const isConfig: Guard<RunConfig> = (value): value is RunConfig => isPatch(value) && FIELD_NAMES.every((name) => Object.hasOwn(value, name));

const isLowHigh = record<LowHigh>({ low: isNumber, high: isNumber, both: isNumber });
const isFractions = record<Fractions>({ units: isLowHigh, tokens: isLowHigh, liveUnits: isLowHigh, liveTokens: isLowHigh });

const isLevelMetrics = record<LevelMetrics>({
  level: oneOf('token', 'segment', 'sequence'),
  widths: record<LevelMetrics['widths']>({ low: isNumber, high: isNumber }),
  units: isCount,
  liveUnits: isCount,
  logRatio: record<LevelMetrics['logRatio']>({
    mean: isNumber, sd: isNumber, min: isNumber, max: isNumber, p01: isNumber, p10: isNumber, p50: isNumber, p90: isNumber, p99: isNumber,
  }),
  histogram: arrayOf(isNumber),
  outside: isFractions,
  binding: isFractions,
  gradientClipped: isNumber,
  entropyClipped: nullable(isNumber),
  entropyKept: nullable(isNumber),
  ess: isNumber,
});

const isMetrics = record<BatchMetrics>({
  loss: isNumber,
  tokens: isCount,
  liveTokens: isCount,
  sequences: isCount,
  levels: record<BatchMetrics['levels']>({ token: isLevelMetrics, segment: isLevelMetrics, sequence: isLevelMetrics }),
  clippedTokens: isNumber,
  clippedLiveTokens: isNumber,
  gradientClipped: isNumber,
  entropyClipped: nullable(isNumber),
  entropyKept: nullable(isNumber),
  deadGradient: isNumber,
  absCoefficientSum: isNumber,
  k1: isNumber,
  k3: isNumber,
  refK3: nullable(isNumber),
  entropy: nullable(isNumber),
  maxAbsLogRatio: isNumber,
  clamped: isCount,
  weightKept: isNumber,
  aliases: dictionaryOf(isNumber),
});

const isUpdate = record<UpdateReport>({
  update: isCount, step: isCount, epoch: isCount, minibatch: isCount, metrics: isMetrics, gradNorm: isNumber, learningRate: isNumber,
});

const isCalibration = record<CriticReport['calibration']>({
  iterations: isCount, answers: isCount, pearson: nullable(isNumber), spearman: nullable(isNumber),
  bins: arrayOf(record<CriticReport['calibration']['bins'][number]>({ from: isNumber, to: isNumber, count: isCount, meanValue: isNumber, successRate: isNumber })),
});
const isCritic = record<CriticReport>({
  level: oneOf('prompt', 'token'), loss: isNumber, meanValue: isNumber, correlation: nullable(isNumber),
  explainedVariance: nullable(isNumber), clippedValues: nullable(isNumber), calibration: isCalibration,
});

const isStep = record<StepReport>({
  step: isCount,
  objective: isString,
  reward: isNumber,
  formatRate: isNumber,
  meanLength: isNumber,
  truncatedFraction: isNumber,
  deadGroups: nullable(isNumber),
  groups: record<StepReport['groups']>({ drawn: isCount, trained: isCount, revisited: nullable(isCount) }),
  critic: nullable(isCritic),
  updates: arrayOf(isUpdate),
  selfCheck: record<StepReport['selfCheck']>({ maxAbsLogRatio: isNumber, ok: nullable(isBoolean) }),
  ms: record<StepReport['ms']>({ rollout: isNumber, verify: isNumber, reference: isNumber, update: isNumber, total: isNumber }),
  tokensPerSecond: isNumber,
});

const isCompletion = record<CompletionRecord>({
  group: isCount,
  tokens: arrayOf(isString),
  oldLogp: isFloats,
  newLogp: isFloats,
  entropy: isFloats,
  refLogp: nullable(isFloats),
  segments: isUints,
  reward: isNumber,
  advantage: isNumber,
  advantages: nullable(isFloats),
  value: nullable(isNumber),
  values: nullable(isFloats),
  minibatch: isCount,
});

const isBatch = record<BatchRecord>({
  step: isCount, objective: isString, config: isConfig, prompts: arrayOf(isString), completions: arrayOf(isCompletion), meanEntropy: isNumber,
});

const isAnswer = record<ShowcaseAnswer>({ step: isCount, prompt: isString, response: isString, correct: isBoolean, expected: isString });
const isEval = record<EvalReport>({ step: isCount, prompts: isCount, greedy: isNumber });
const isProblem = record<Problem>({ field: isString, message: isString });

const isFacts = record<AdapterFacts>({
  vendor: isString, architecture: isString, device: isString, description: isString,
  software: isBoolean, f16: isBoolean, subgroups: isBoolean, timestamps: isBoolean,
});
const isFallback = record<Fallback>({ title: isString, reason: isString });
const isAdapter: Guard<AdapterReport> = (value): value is AdapterReport => {
  if (!isRecord(value)) return false;
  const { fallback, ...facts } = value;
  return isFacts(facts) && (!('fallback' in value) || isFallback(fallback));
};

/** The fields of one member of a union, `type` aside. */
type Of<T extends { type: string }, K extends T['type']> = Omit<Extract<T, { type: K }>, 'type'>;

/** True when `value` is a command in every field. */
export const isCommand: Guard<WorkerCommand> = tagged<WorkerCommand>({
  probe: record<Of<WorkerCommand, 'probe'>>({}),
  init: recordWith<Of<WorkerCommand, 'init'>, 'resume'>(
    { config: isConfig, modelsUrl: isString },
    { resume: record<NonNullable<Of<WorkerCommand, 'init'>['resume']>>({ checkpoint: isCheckpoint, play: isBoolean }) },
  ),
  engine: record<Of<WorkerCommand, 'engine'>>({ engine: oneOf(...ENGINE_WISHES) }),
  configure: record<Of<WorkerCommand, 'configure'>>({ patch: isPatch }),
  play: record<Of<WorkerCommand, 'play'>>({}),
  pause: record<Of<WorkerCommand, 'pause'>>({}),
  step: record<Of<WorkerCommand, 'step'>>({ count: isCount }),
  reset: record<Of<WorkerCommand, 'reset'>>({ config: isConfig }),
  rewind: record<Of<WorkerCommand, 'rewind'>>({}),
  snapshot: record<Of<WorkerCommand, 'snapshot'>>({ requestId: isCount }),
  inspectLoss: record<Of<WorkerCommand, 'inspectLoss'>>({ requestId: isCount, objective: isString, customObjective: isString }),
  loseDevice: record<Of<WorkerCommand, 'loseDevice'>>({}),
  poison: record<Of<WorkerCommand, 'poison'>>({}),
});

/** True when `value` is an event in every field. */
export const isEvent: Guard<WorkerEvent> = tagged<WorkerEvent>({
  phase: record<Of<WorkerEvent, 'phase'>>({
    phase: oneOf('starting', 'loadingModel', 'compiling', 'loadingReference', 'ready', 'running', 'paused', 'finished', 'failed'),
    message: isString,
    progress: nullable(isNumber),
  }),
  capability: record<Of<WorkerEvent, 'capability'>>({ adapter: isAdapter }),
  base: record<Of<WorkerEvent, 'base'>>({
    manifest: record<Of<WorkerEvent, 'base'>['manifest']>({ passRate: isNumber, greedy: isNumber, parameters: isCount, bytes: isCount }),
    answers: arrayOf(isAnswer),
  }),
  step: record<Of<WorkerEvent, 'step'>>({ report: isStep, batch: isBatch }),
  eval: record<Of<WorkerEvent, 'eval'>>({ report: isEval, answers: arrayOf(isAnswer) }),
  config: record<Of<WorkerEvent, 'config'>>({
    config: isConfig, step: isCount, changes: arrayOf(record<{ field: string; from: string; to: string }>({ field: isString, from: isString, to: isString })),
  }),
  notice: record<Of<WorkerEvent, 'notice'>>({ problems: arrayOf(isProblem) }),
  snapshot: record<Of<WorkerEvent, 'snapshot'>>({ requestId: isCount, report: nullable(isStep), batch: nullable(isBatch) }),
  lossInspected: record<Of<WorkerEvent, 'lossInspected'>>({
    requestId: isCount,
    inspection: nullable(record<LossInspection>({
      wgsl: isString,
      gpu: nullable(record<NonNullable<LossInspection['gpu']>>({ ok: isBoolean, tokens: isCount, maxError: isNumber })),
    })),
    problem: isString,
  }),
  checkpoint: record<Of<WorkerEvent, 'checkpoint'>>({ checkpoint: isCheckpoint }),
  rewound: record<Of<WorkerEvent, 'rewound'>>({ step: isCount, updates: isCount }),
  error: recordWith<Of<WorkerEvent, 'error'>, 'rewindTo'>(
    { kind: oneOf('noWebGpu', 'deviceLost', 'badModel', 'badConfig', 'notFinite', 'reference', 'crashed', 'internal'), message: isString, hint: isString, fatal: isBoolean },
    { rewindTo: isCount },
  ),
});

/** One message of the worker: a list of events. */
export const isEventList: Guard<WorkerEvent[]> = arrayOf(isEvent);
