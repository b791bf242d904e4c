import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { Rng } from '../../src/core/rng';
import { MODEL_CONFIGS, paramLayout } from '../../src/model/config';
import { GRAPH_NAME, onnxToParams, policyToOnnx } from '../../src/model/onnxGraph';
import { readOnnx } from '../../src/model/onnxReader';
import { writeOnnx } from '../../src/model/onnxWriter';
import { randomParams } from '../helpers/referenceForward';

const { main, small } = MODEL_CONFIGS;
const META = { model: 'small', task: 'chainSum', seed: 4_000_000_000 };
const rng = new Rng(21);
const params = randomParams(small, () => rng.normal());
const file = policyToOnnx(small, params, META);

/** Whatever the bytes, reading them ends, and ends in parameters or a UserError. */
function readsOrRefuses(bytes: Uint8Array): 'read' | 'refused' {
  try {
    const flat = onnxToParams(small, bytes);
    expect(flat.every(Number.isFinite)).toBe(true);
    return 'read';
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).hint).not.toBe('');
    return 'refused';
  }
}

describe('ONNX file of a policy', () => {
  it.each([main, small])('gives back every weight of $id bit for bit', (config) => {
    const draw = new Rng(22, config.C);
    const flat = randomParams(config, () => draw.normal());
    // Values that a detour through text or f64 rounding could lose.
    flat.set([-0, 1.4e-45, 3.4028234663852886e38, 0.1], paramLayout(config).byName.get('l1.fc2')!.offset);
    const back = onnxToParams(config, policyToOnnx(config, flat, META));
    expect(new Uint32Array(back.buffer)).toEqual(new Uint32Array(flat.buffer));
  });

  it('says what it is: versions, names, metadata', () => {
    const contents = readOnnx(file);
    expect(contents).toMatchObject({ irVersion: 9, opset: 20, graphName: GRAPH_NAME, inputs: ['tokens'], outputs: ['logits'] });
    expect(contents.metadata).toEqual({ model: 'small', task: 'chainSum', seed: '4000000000', parameters: '28832' });
  });

  it('costs little more than the weights', () => {
    expect(file.length - 4 * paramLayout(small).count).toBeLessThan(20_000);
  });

  it('can be read from the middle of a larger buffer', () => {
    const shifted = new Uint8Array(file.length + 8);
    shifted.set(file, 3);
    expect(onnxToParams(small, shifted.subarray(3, 3 + file.length))).toEqual(params);
  });

  it('refuses a file of another size of model', () => {
    expect(() => onnxToParams(main, file)).toThrow(/tokenEmbedding has shape \[32, 32\].*expected float32 \[32, 48\]/);
  });

  it('refuses weights that are not finite', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const broken = params.slice();
      broken[paramLayout(small).byName.get('unembed')!.offset + 5] = bad;
      expect(() => onnxToParams(small, policyToOnnx(small, broken, META))).toThrow(/not finite/);
    }
  });

  it('refuses a model of another kind, a missing weight, a weight given twice', () => {
    const model = { graphName: GRAPH_NAME, nodes: [], initializers: [], inputs: [], outputs: [], metadata: {} };
    expect(() => onnxToParams(small, writeOnnx({ ...model, graphName: 'resnet' }))).toThrow(/resnet/);
    expect(() => onnxToParams(small, writeOnnx(model))).toThrow(/0 weights named tokenEmbedding/);
    const tensor = { name: 'tokenEmbedding', dims: [32, 32], data: new Float32Array(1024) };
    expect(() => onnxToParams(small, writeOnnx({ ...model, initializers: [tensor, tensor] }))).toThrow(/2 weights named tokenEmbedding/);
    expect(() => onnxToParams(small, writeOnnx({ ...model, initializers: [{ ...tensor, data: new Float32Array(1023) }] }))).toThrow(/4092 bytes/);
    expect(() => onnxToParams(small, writeOnnx({ ...model, initializers: [{ ...tensor, data: new Int32Array(1024) }] }))).toThrow(UserError);
  });
});

describe('a damaged file', () => {
  it('is refused wherever it was cut', () => {
    for (let length = 0; length < file.length; length += length < 3000 ? 1 : 997) {
      // Cut inside the metadata only, all weights are there and the file may still be whole.
      if (readsOrRefuses(file.subarray(0, length)) === 'read') expect(length).toBeGreaterThan(file.length - 150);
    }
    expect(readsOrRefuses(new Uint8Array(0))).toBe('refused');
  });

  it('never hangs, throws a foreign error or yields a number that is not finite, whichever byte is changed', () => {
    const draw = new Rng(23);
    for (let i = 0; i < 1000; i++) {
      const broken = file.slice();
      // Half of the hits go to the structure near the start, where they hurt most.
      const at = draw.int(0, i % 2 ? 200 : broken.length - 1);
      broken[at] = draw.int(0, 255);
      readsOrRefuses(broken);
    }
  });

  it('is refused when it is something else altogether', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => readsOrRefuses(bytes) === 'refused'),
      { seed: 2, numRuns: 2000 },
    );
    expect(readsOrRefuses(new TextEncoder().encode('<!doctype html><title>404</title>'))).toBe('refused');
    expect(readsOrRefuses(new Uint8Array(1 << 20))).toBe('refused');
    expect(readsOrRefuses(new Uint8Array(1 << 20).fill(0xff))).toBe('refused');
  });

  it('does not believe a length that the file does not have', () => {
    // Field 7 (graph) with a declared length of 2^62 bytes.
    const wild = Uint8Array.of(0x3a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40);
    expect(() => readOnnx(wild)).toThrow(/longer than the file/);
    expect(() => readOnnx(Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))).toThrow(/64 bits/);
  });

  it('cannot reach the prototype through its metadata', () => {
    const model = { graphName: 'x', nodes: [], initializers: [], inputs: [], outputs: [], metadata: { ['__proto__']: 'polluted' } };
    const contents = readOnnx(writeOnnx(model));
    expect(Object.keys(contents.metadata)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(contents.metadata)).toBe(Object.prototype);
  });
});
