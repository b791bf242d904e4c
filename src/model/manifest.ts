import { UserError } from '../core/errors';
import { MODEL_CONFIGS, paramLayout, type ModelId } from './config';
import { onnxToParams } from './onnxGraph';

/**
 * The catalogue of shipped base policies, public/models/manifest.json: `{ "version": 1, "policies": [...] }`. Loading a
 * policy checks the file against it, so that a truncated download or a stale cache is caught before it trains.
 */

export const MANIFEST_VERSION = 1;

/** How a base policy was pretrained; enough to do it again. */
export interface Recipe {
  /** Optimiser steps, examples per step. */
  steps: number;
  batch: number;
  learningRate: number;
  warmupSteps: number;
  weightDecay: number;
  beta1: number;
  beta2: number;
  maxGradNorm: number;
}

/** Measured on held-out prompts after pretraining; shares in [0, 1]. */
export interface MeasuredPolicy {
  /** Share of right answers sampled at temperature 1, and of greedy ones. */
  passRate: number;
  greedy: number;
  /** Share of well-formed answers at temperature 1. */
  formatRate: number;
  /** How many prompts were used. */
  prompts: number;
}

export interface PolicyEntry {
  /** `${task}-${model}`. */
  id: string;
  /** Relative to the manifest, `${id}.onnx`. */
  file: string;
  model: ModelId;
  task: string;
  bytes: number;
  /** Of the file, 64 lowercase hex digits. */
  sha256: string;
  seed: number;
  /** True number of parameters. */
  parameters: number;
  recipe: Recipe;
  measured: MeasuredPolicy;
}

export interface Manifest {
  version: number;
  policies: PolicyEntry[];
}

export interface LoadedPolicy {
  entry: PolicyEntry;
  /** The file, for the reference policy. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Flat vector, paramLayout. */
  params: Float32Array<ArrayBuffer>;
}

/** What a browser's `fetch` offers of itself here; tests and the command line bring their own. */
export type FetchLike = (url: string) => Promise<Response>;

/** Bytes so far and in all (from the manifest). */
export type LoadProgress = (loadedBytes: number, totalBytes: number) => void;

const RELOAD = 'Reload the page. If it stays, the site was published incompletely: build it again with `npm run build`.';

const RECIPE_KEYS = ['steps', 'batch', 'learningRate', 'warmupSteps', 'weightDecay', 'beta1', 'beta2', 'maxGradNorm'] as const satisfies readonly (keyof Recipe)[];
const MEASURED_KEYS = ['passRate', 'greedy', 'formatRate', 'prompts'] as const satisfies readonly (keyof MeasuredPolicy)[];

/** SHA-256 of bytes as 64 lowercase hex digits. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The catalogue entry of a policy file, for whoever writes one. */
export async function manifestEntry(
  bytes: Uint8Array<ArrayBuffer>,
  about: { model: ModelId; task: string; seed: number; recipe: Recipe; measured: MeasuredPolicy },
): Promise<PolicyEntry> {
  const id = `${about.task}-${about.model}`;
  return {
    id,
    file: `${id}.onnx`,
    model: about.model,
    task: about.task,
    bytes: bytes.length,
    sha256: await sha256Hex(bytes),
    seed: about.seed,
    parameters: paramLayout(MODEL_CONFIGS[about.model]).count,
    recipe: about.recipe,
    measured: about.measured,
  };
}

/** The manifest with `entry` in place of the one with its id, entries in order of id. */
export function withEntry(manifest: Manifest | null, entry: PolicyEntry): Manifest {
  const others = (manifest?.policies ?? []).filter((policy) => policy.id !== entry.id);
  return { version: MANIFEST_VERSION, policies: [...others, entry].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/**
 * Checks a parsed manifest.
 * @throws UserError naming the first field that is wrong.
 */
export function parseManifest(json: unknown): Manifest {
  const manifest = record(json, 'the manifest');
  if (manifest['version'] !== MANIFEST_VERSION) throw invalid(`version is ${String(manifest['version'])}, expected ${MANIFEST_VERSION}`);
  if (!Array.isArray(manifest['policies'])) throw invalid('policies is not a list');
  const policies = manifest['policies'].map(parseEntry);
  if (new Set(policies.map((policy) => policy.id)).size !== policies.length) throw invalid('two policies have the same id');
  return { version: MANIFEST_VERSION, policies };
}

function parseEntry(json: unknown, index: number): PolicyEntry {
  const at = `policies[${index}]`;
  const entry = record(json, at);
  const model = text(entry, 'model', at, /^\w+$/);
  if (!isModelId(model)) throw invalid(`${at}.model is "${model}"`);
  const task = text(entry, 'task', at, /^\w+$/);
  const id = `${task}-${model}`;
  if (entry['id'] !== id || entry['file'] !== `${id}.onnx`) throw invalid(`${at} should have id "${id}" and file "${id}.onnx"`);
  const recipe = record(entry['recipe'], `${at}.recipe`);
  const measured = record(entry['measured'], `${at}.measured`);
  return {
    id,
    file: `${id}.onnx`,
    model,
    task,
    bytes: number(entry, 'bytes', at, 1, 1e9),
    sha256: text(entry, 'sha256', at, /^[0-9a-f]{64}$/),
    seed: number(entry, 'seed', at, 0, 0xffffffff),
    parameters: number(entry, 'parameters', at, 1, 1e9),
    recipe: Object.fromEntries(RECIPE_KEYS.map((key) => [key, number(recipe, key, `${at}.recipe`, 0, 1e9)])) as Record<keyof Recipe, number>,
    measured: Object.fromEntries(
      MEASURED_KEYS.map((key) => [key, number(measured, key, `${at}.measured`, 0, key === 'prompts' ? 1e9 : 1)]),
    ) as Record<keyof MeasuredPolicy, number>,
  };
}

function isModelId(id: string): id is ModelId {
  return Object.hasOwn(MODEL_CONFIGS, id);
}

function invalid(what: string): UserError {
  return new UserError(`The list of base policies (manifest.json) is not valid: ${what}.`, RELOAD);
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function number(from: Record<string, unknown>, key: string, at: string, min: number, max: number): number {
  const value = from[key];
  if (typeof value !== 'number' || !(value >= min && value <= max)) throw invalid(`${at}.${key} is not a number from ${min} to ${max}`);
  return value;
}

function text(from: Record<string, unknown>, key: string, at: string, pattern: RegExp): string {
  const value = from[key];
  if (typeof value !== 'string' || !pattern.test(value)) throw invalid(`${at}.${key} does not look as it should`);
  return value;
}

async function fetched(url: string, what: string, fetchFile: FetchLike): Promise<Response> {
  let response: Response;
  try {
    response = await fetchFile(url);
  } catch (error) {
    throw new UserError(`${what} could not be loaded from ${url}: ${error instanceof Error ? error.message : String(error)}.`, 'Check the connection to this site and reload the page.');
  }
  if (!response.ok) throw new UserError(`${what} could not be loaded: the server answered ${response.status} for ${url}.`, RELOAD);
  return response;
}

/** Reads a body piece by piece for the progress report; stops as soon as it is longer than it should be. */
async function readBody(response: Response, total: number, onProgress: LoadProgress): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let loaded = 0;
  onProgress(0, total);
  if (response.body) {
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      loaded += value.length;
      if (loaded > total) {
        await reader.cancel();
        break;
      }
      onProgress(loaded, total);
    }
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * Fetches and checks the catalogue.
 * @param modelsUrl address of the models folder, ending in `/`.
 * @throws UserError when it cannot be loaded, is not JSON or is not valid.
 */
export async function loadManifest(modelsUrl: string, fetchFile: FetchLike = (url) => fetch(url)): Promise<Manifest> {
  const response = await fetched(`${modelsUrl}manifest.json`, 'The list of base policies', fetchFile);
  let json: unknown;
  try {
    json = await response.json();
  } catch {
    throw invalid('it is not JSON');
  }
  return parseManifest(json);
}

/**
 * Fetches a base policy and checks size, SHA-256, structure and finiteness before handing out its weights.
 * @param modelsUrl address of the models folder, ending in `/`.
 * @throws UserError, a different one for each thing that can be wrong.
 */
export async function loadPolicy(
  modelsUrl: string,
  model: ModelId,
  task: string,
  options: { fetchFile?: FetchLike; onProgress?: LoadProgress } = {},
): Promise<LoadedPolicy> {
  const { fetchFile = (url: string) => fetch(url), onProgress = () => {} } = options;
  const manifest = await loadManifest(modelsUrl, fetchFile);
  const entry = manifest.policies.find((policy) => policy.model === model && policy.task === task);
  if (!entry) {
    const known = manifest.policies.map((policy) => policy.id).join(', ') || 'none';
    throw new UserError(`There is no base policy for the task "${task}" with the model "${model}" (there are: ${known}).`, `Choose another, or make it: npm run -s ratioscope -- pretrain --task ${task} --model ${model}`);
  }
  const what = `The base policy ${entry.file}`;
  const response = await fetched(modelsUrl + entry.file, what, fetchFile);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await readBody(response, entry.bytes, onProgress);
  } catch (error) {
    throw new UserError(`${what} broke off while loading: ${error instanceof Error ? error.message : String(error)}.`, 'Check the connection to this site and reload the page.');
  }
  if (bytes.length !== entry.bytes) {
    const size = bytes.length > entry.bytes ? `more than ${entry.bytes}` : `${bytes.length} instead of ${entry.bytes}`;
    throw new UserError(`${what} has ${size} bytes.`, 'The download was cut short or the file was replaced: reload the page, without the cache if it stays (Ctrl+Shift+R).');
  }
  const hash = await sha256Hex(bytes);
  if (hash !== entry.sha256) {
    throw new UserError(`${what} is not the one in the list: its SHA-256 is ${hash.slice(0, 12)}..., expected ${entry.sha256.slice(0, 12)}...`, 'The file was altered or comes from another version: reload the page without the cache (Ctrl+Shift+R).');
  }
  return { entry, bytes, params: onnxToParams(MODEL_CONFIGS[model], bytes) };
}
