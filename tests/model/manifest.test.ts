import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { Rng } from '../../src/core/rng';
import { MODEL_CONFIGS } from '../../src/model/config';
import { loadPolicy, manifestEntry, parseManifest, sha256Hex, withEntry, type FetchLike, type Manifest, type PolicyEntry } from '../../src/model/manifest';
import { policyToOnnx } from '../../src/model/onnxGraph';
import { randomParams } from '../helpers/referenceForward';

const config = MODEL_CONFIGS.small;
const rng = new Rng(31);
const params = randomParams(config, () => rng.normal());
const file = policyToOnnx(config, params, { model: 'small', task: 'chainSum', seed: 3 });
const about = {
  model: 'small' as const,
  task: 'chainSum',
  seed: 3,
  recipe: { steps: 3000, batch: 64, learningRate: 3e-3, warmupSteps: 50, weightDecay: 0.01, beta1: 0.9, beta2: 0.98, maxGradNorm: 1 },
  measured: { passRate: 0.35, greedy: 0.41, formatRate: 1, prompts: 512 },
};
const entry = await manifestEntry(file, about);
const manifest: Manifest = { version: 1, policies: [entry] };

/** A site that serves these files and nothing else, in pieces of 1,000 bytes. */
function site(files: Record<string, string | Uint8Array<ArrayBuffer>>): FetchLike {
  return (url) => {
    const body = files[url.replace('models/', '')];
    if (body === undefined) return Promise.resolve(new Response('not found', { status: 404 }));
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1000) controller.enqueue(bytes.slice(at, at + 1000));
        controller.close();
      },
    });
    return Promise.resolve(new Response(stream));
  };
}

const load = (files: Record<string, string | Uint8Array<ArrayBuffer>>) => loadPolicy('models/', 'small', 'chainSum', { fetchFile: site(files) });
const good = { 'manifest.json': JSON.stringify(manifest), 'chainSum-small.onnx': file };

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(UserError);
  expect((error as UserError).hint).not.toBe('');
  return (error as UserError).message;
}

describe('loading a base policy', () => {
  it('gives the weights, the file and its entry, and reports progress up to the end', async () => {
    const seen: [number, number][] = [];
    const loaded = await loadPolicy('models/', 'small', 'chainSum', { fetchFile: site(good), onProgress: (n, of) => seen.push([n, of]) });
    expect(loaded.params).toEqual(params);
    expect(loaded.bytes).toEqual(file);
    expect(loaded.entry).toEqual(entry);
    expect(seen[0]).toEqual([0, file.length]);
    expect(seen.at(-1)).toEqual([file.length, file.length]);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.every(([n], i) => i === 0 || n > seen[i - 1]![0])).toBe(true);
  });

  it('says which file is missing', async () => {
    expect(await refusal(load({}))).toMatch(/404.*manifest\.json/);
    expect(await refusal(load({ 'manifest.json': good['manifest.json'] }))).toMatch(/404.*chainSum-small\.onnx/);
  });

  it('says when there is no connection', async () => {
    const offline: FetchLike = () => Promise.reject(new TypeError('Failed to fetch'));
    expect(await refusal(loadPolicy('models/', 'small', 'chainSum', { fetchFile: offline }))).toMatch(/Failed to fetch/);
  });

  it('says when the connection breaks in the middle', async () => {
    const breaking: FetchLike = (url) => {
      if (url.endsWith('.json')) return site(good)(url);
      let sent = false;
      const stream = new ReadableStream({
        pull(controller) {
          if (sent) controller.error(new Error('network changed'));
          else controller.enqueue(file.slice(0, 1000));
          sent = true;
        },
      });
      return Promise.resolve(new Response(stream));
    };
    expect(await refusal(loadPolicy('models/', 'small', 'chainSum', { fetchFile: breaking }))).toMatch(/broke off.*network changed/);
  });

  it('refuses a list that is not JSON, such as a page served for every address', async () => {
    expect(await refusal(load({ ...good, 'manifest.json': '<!doctype html>' }))).toMatch(/not JSON/);
  });

  it('tells what there is when the wanted policy is not in the list', async () => {
    expect(await refusal(loadPolicy('models/', 'main', 'chainSum', { fetchFile: site(good) }))).toMatch(/there are: chainSum-small/);
    expect(await refusal(load({ ...good, 'manifest.json': JSON.stringify({ version: 1, policies: [] }) }))).toMatch(/there are: none/);
  });

  it('refuses a file that is too short or too long', async () => {
    expect(await refusal(load({ ...good, 'chainSum-small.onnx': file.slice(0, 5000) }))).toMatch(new RegExp(`5000 instead of ${file.length} bytes`));
    const long = new Uint8Array(file.length + 1);
    long.set(file);
    expect(await refusal(load({ ...good, 'chainSum-small.onnx': long }))).toMatch(new RegExp(`more than ${file.length} bytes`));
  });

  it('refuses a file of the right size with one bit changed', async () => {
    const broken = file.slice();
    broken[5000]! ^= 1;
    expect(await refusal(load({ ...good, 'chainSum-small.onnx': broken }))).toMatch(/SHA-256/);
  });

  it('refuses a listed file that is damaged or holds weights that are not finite', async () => {
    const listed = async (bytes: Uint8Array<ArrayBuffer>) =>
      load({ 'manifest.json': JSON.stringify({ version: 1, policies: [await manifestEntry(bytes, about)] }), 'chainSum-small.onnx': bytes });
    expect(await refusal(listed(file.slice(0, 5000)))).toMatch(/damaged/);
    const infinite = params.slice();
    infinite[100] = Infinity;
    expect(await refusal(listed(policyToOnnx(config, infinite, { model: 'small', task: 'chainSum', seed: 3 })))).toMatch(/not finite/);
  });
});

describe('the list of base policies', () => {
  it('survives a round trip through JSON', () => {
    expect(parseManifest(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest);
  });

  it('knows the SHA-256 of a known text', async () => {
    expect(await sha256Hex(new TextEncoder().encode('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('replaces an entry with the same id and keeps the others, in order', () => {
    const other: PolicyEntry = { ...entry, id: 'columnAddition-main', task: 'columnAddition', model: 'main', file: 'columnAddition-main.onnx' };
    const both = withEntry(withEntry(null, other), entry);
    expect(both.policies.map((policy) => policy.id)).toEqual(['chainSum-small', 'columnAddition-main']);
    const again = withEntry(both, { ...other, seed: 9 });
    expect(again.policies.map((policy) => policy.seed)).toEqual([3, 9]);
    expect(parseManifest(again)).toEqual(again);
  });

  const withField = (path: string[], value: unknown): unknown => {
    const copy = JSON.parse(JSON.stringify(manifest)) as Record<string, never>;
    const parent = path.slice(0, -1).reduce<Record<string, never>>((at, key) => at[key]!, copy);
    (parent as Record<string, unknown>)[path.at(-1) as string] = value;
    return copy;
  };

  it.each([
    [['version'], 2],
    [['policies'], {}],
    [['policies', '0'], null],
    [['policies', '0', 'id'], 'chainSum-main'],
    [['policies', '0', 'file'], '../../secret.onnx'],
    [['policies', '0', 'file'], 'https://elsewhere.example/x.onnx'],
    [['policies', '0', 'model'], 'toString'],
    [['policies', '0', 'model'], 'huge'],
    [['policies', '0', 'task'], '../x'],
    [['policies', '0', 'bytes'], -1],
    [['policies', '0', 'bytes'], '100'],
    [['policies', '0', 'bytes'], null],
    [['policies', '0', 'sha256'], 'ABC'],
    [['policies', '0', 'seed'], 1e12],
    [['policies', '0', 'recipe'], undefined],
    [['policies', '0', 'recipe', 'steps'], undefined],
    [['policies', '0', 'measured', 'passRate'], 1.5],
    [['policies', '0', 'measured', 'greedy'], null],
  ])('refuses %j = %j', (path, value) => {
    expect(() => parseManifest(withField(path, value))).toThrow(UserError);
  });

  it.each([null, 3, 'x', [], undefined])('refuses %j as a whole', (json) => {
    expect(() => parseManifest(json)).toThrow(UserError);
  });

  it('refuses two policies with one id', () => {
    expect(() => parseManifest({ version: 1, policies: [entry, entry] })).toThrow(/same id/);
  });
});
