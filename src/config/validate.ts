import { defaultConfig, FIELDS, fieldOf, FIELD_NAMES, isFieldName } from './fields';
import type { Field, FieldName, Problem } from './fieldTypes';
import { registeredCustom } from '../objectives/custom';
import { isCustom, registerFrom, settleCustom } from './custom';
import { UserError } from '../core/errors';
import { getObjective, isLevelSetting, mixtureOf, withLevels } from '../objectives';
import { answersOf } from './hyper';
import type { RunConfig } from './runConfig';

/** Most rollout rows (prompts times answers) of one iteration. */
export const MAX_ROWS = 512;

/** What an engine can take, as engines/engine.ts gives it. */
export interface ConfigLimits {
  rolloutRows: number;
  updateRows: number;
  updatesPerIteration: number;
}

export interface Validated {
  config: RunConfig;
  /** Empty when every value was taken as given. */
  problems: Problem[];
}

/**
 * Makes a whole configuration of anything: missing settings come from `base`, numbers out of range are clamped,
 * what makes no sense is refused (the value of `base` stays), unknown names are reported. Never throws.
 */
export function validateConfig(given: Partial<RunConfig> | Readonly<Record<string, unknown>>, base: RunConfig = defaultConfig(), limits?: ConfigLimits): Validated {
  const problems: Problem[] = [];
  registerFrom(base);
  const out: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries<unknown>(given)) {
    if (isLevelSetting(name)) continue;
    if (!isFieldName(name)) {
      problems.push({ field: name, message: `There is no setting called ${quote(name)}; it was ignored.` });
      continue;
    }
    if (value === undefined) continue;
    if (name === 'objective' && isCustom(value)) {
      out[name] = value;
      continue;
    }
    if (name === 'objective' && typeof value === 'string' && mixtureOf(value)) {
      out[name] = getObjective(value).id;
      continue;
    }
    const result = coerce(fieldOf(name), value, base[name]);
    out[name] = result.value;
    if (result.message !== undefined) problems.push({ field: name, message: `${fieldOf(name).label}: ${result.message}` });
  }
  const config = toConfig(out);
  problems.push(...settleCustom(config, base));
  problems.push(...settleLevels(config, given));
  problems.push(...crossRules(config, base, limits));
  return { config, problems };
}

/** Levels that are given by themselves become part of the objective, in place. */
function settleLevels(config: RunConfig, given: object): Problem[] {
  try {
    config.objective = withLevels(config.objective, given);
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ field: 'objective', message: `${error.message} ${error.hint}`.trim() }];
  }
}

/** A record that holds a value of the right kind under every name. The table's types make the cast true. */
function toConfig(record: Record<string, unknown>): RunConfig {
  for (const name of FIELD_NAMES) {
    const field = fieldOf(name);
    const kind = field.kind === 'bool' ? 'boolean' : field.kind === 'choice' || field.kind === 'text' ? 'string' : 'number';
    if (typeof record[name] !== kind) throw new Error(`invariant: setting ${name} is not a ${kind}`);
  }
  return record as unknown as RunConfig;
}

function quote(value: unknown): string {
  const text = String(value);
  return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}

/** Text, numbers and booleans are all taken, so that the URL and `--set` need no parsing of their own. */
function coerce(field: Field, raw: unknown, fallback: RunConfig[FieldName]): { value: RunConfig[FieldName]; message?: string } {
  if (field.kind === 'bool') {
    if (raw === true || raw === 'true' || raw === '1' || raw === 1) return { value: true };
    if (raw === false || raw === 'false' || raw === '0' || raw === 0) return { value: false };
    return { value: fallback, message: `${quote(raw)} is neither true nor false; it stays ${String(fallback)}.` };
  }
  if (field.kind === 'text') {
    if (typeof raw !== 'string') return { value: fallback, message: `${quote(raw)} is no text; it stays as it was.` };
    if (raw.length > field.maxLength) return { value: fallback, message: `a text of ${raw.length} characters is longer than ${field.maxLength}; it stays as it was.` };
    return { value: raw.replace(/\r\n?/g, '\n') };
  }
  if (field.kind === 'choice') {
    if (typeof raw === 'string' && field.choices.some((c) => c.value === raw)) return { value: raw };
    return { value: fallback, message: `${quote(raw)} is not one of ${field.choices.map((c) => c.value).join(', ')}; it stays ${String(fallback)}.` };
  }
  const number = typeof raw === 'number' ? raw : typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : NaN;
  if (!Number.isFinite(number)) return { value: fallback, message: `${quote(raw)} is not a number; it stays ${String(fallback)}.` };
  const whole = field.kind === 'int' ? Math.round(number) : number;
  const value = Math.min(field.max, Math.max(field.min, whole));
  if (value !== whole) return { value, message: `${quote(raw)} lies outside ${field.min} to ${field.max}; ${value} is used.` };
  if (whole !== number) return { value, message: `${quote(raw)} is not a whole number; ${value} is used.` };
  return { value };
}

/** Rules between settings; repairs `config` in place and says so. */
function crossRules(config: RunConfig, base: RunConfig, limits: ConfigLimits | undefined): Problem[] {
  const problems: Problem[] = [];
  const repair = <K extends FieldName>(field: K, value: RunConfig[K], why: string): void => {
    config[field] = value;
    problems.push({ field, message: `${fieldOf(field).label}: ${why} ${String(value)} is used.` });
  };
  if (config.dualClip !== 0 && config.dualClip <= 1) repair('dualClip', 0, 'a dual clip must be above 1, or 0 for none;');
  if (config.mismatchCorrection !== 'none' && config.oldLogpSource === 'sampler') {
    // Whoever asked for a correction last gets it; whoever went back to the sampler's numbers, in which the ratio itself corrects, has it off.
    if (base.mismatchCorrection === 'none' || base.oldLogpSource === 'sampler') repair('oldLogpSource', 'trainer', 'a mismatch correction needs the trainer’s own;');
    else repair('mismatchCorrection', 'none', 'with the sampler’s old log-probs the ratio corrects by itself;');
  }
  // Moving between the two kinds of objective keeps the number of answers; otherwise only the bad value is mended.
  const answers = answersOf(config);
  const moved = answers !== (isKnown(base.objective) ? answersOf(base) : answers);
  const rowsGiven = config.prompts * config.groupSize;
  if (answers === 'one' && config.groupSize !== 1) {
    repair('groupSize', 1, 'SPPO takes one answer per prompt;');
    if (moved) config.prompts = Math.min(rowsGiven, FIELDS.prompts.max);
  }
  if (answers === 'several' && config.groupSize < 2) {
    repair('groupSize', moved && rowsGiven % 8 === 0 ? 8 : 2, 'this objective compares several answers to one prompt;');
    if (moved) config.prompts = Math.max(1, Math.floor(rowsGiven / config.groupSize));
  }
  const maxRows = Math.min(MAX_ROWS, limits?.rolloutRows ?? MAX_ROWS);
  if (config.groupSize > maxRows) repair('groupSize', maxRows, `one rollout holds at most ${maxRows} answers;`);
  if (config.prompts * config.groupSize > maxRows) {
    repair('prompts', Math.floor(maxRows / config.groupSize), `one rollout holds at most ${maxRows} answers;`);
  }
  const rows = config.prompts * config.groupSize;
  if (rows % config.minibatches !== 0) {
    repair('minibatches', largestDivisor(rows, config.minibatches), `must divide the ${rows} answers of a rollout;`);
  }
  if (limits) {
    if (rows / config.minibatches > limits.updateRows) {
      const fewest = Math.ceil(rows / limits.updateRows);
      repair('minibatches', smallestDivisor(rows, fewest), `one update holds at most ${limits.updateRows} answers here;`);
    }
    if (config.minibatches * config.epochs > limits.updatesPerIteration) {
      repair('epochs', Math.max(1, Math.floor(limits.updatesPerIteration / config.minibatches)), `at most ${limits.updatesPerIteration} updates can reuse one rollout;`);
    }
  }
  return problems;
}

const isKnown = (objective: string): boolean => !isCustom(objective) || registeredCustom(objective) !== undefined;

function largestDivisor(of: number, atMost: number): number {
  let d = Math.min(of, atMost);
  while (of % d !== 0) d--;
  return d;
}

function smallestDivisor(of: number, atLeast: number): number {
  let d = Math.max(1, atLeast);
  while (of % d !== 0) d++;
  return d;
}
