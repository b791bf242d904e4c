import { UserError, invariant } from '../core/errors';
import { paramLayout, type ModelConfig } from './config';
import { readOnnx } from './onnxReader';
import { IR_VERSION, OPSET, writeOnnx, type Attribute, type OnnxNode, type OnnxTensor } from './onnxWriter';

/**
 * The policy as an ONNX inference graph, and back. The file is the one source of the weights: our engine reads its
 * initialisers, onnxruntime-web runs its graph.
 *
 * Input `tokens` int32 [B, T], T <= 64; output `logits` float32 [B, T, V]. int32 and not the customary int64: a GPU
 * buffer of our u32 token ids is then a valid input as it lies, and both providers take int32 indices.
 * The causal mask makes padding on the right harmless: logits at a position never depend on later tokens.
 */

export const GRAPH_NAME = 'ratioscope-policy';

export interface PolicyMetadata {
  model: string;
  task: string;
  seed: number;
}

/** What a masked score becomes; exp of it is 0 in f32 with room to spare. */
const MASKED = -1e4;

/** Collects nodes; each helper returns the name of its output. */
class GraphBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly tensors: OnnxTensor[] = [];

  constant(name: string, dims: readonly number[], data: OnnxTensor['data']): string {
    this.tensors.push({ name, dims, data });
    return name;
  }

  ints(name: string, ...values: number[]): string {
    return this.constant(name, [values.length], BigInt64Array.from(values, BigInt));
  }

  add(output: string, op: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  split(outputs: readonly string[], input: string): readonly string[] {
    this.nodes.push({ op: 'Split', inputs: [input], outputs, attributes: { axis: -1, num_outputs: outputs.length } });
    return outputs;
  }
}

/** RMSNorm over channels with a gain: x / sqrt(mean(x^2) + eps) * gain. */
function rmsNorm(g: GraphBuilder, name: string, x: string, gain: string): string {
  const square = g.add(`${name}.square`, 'Pow', [x, 'two']);
  const mean = g.add(`${name}.mean`, 'ReduceMean', [square, 'lastAxis'], { keepdims: 1 });
  const root = g.add(`${name}.root`, 'Sqrt', [g.add(`${name}.meanEps`, 'Add', [mean, 'eps'])]);
  return g.add(`${name}.out`, 'Mul', [g.add(`${name}.unit`, 'Div', [x, root]), gain]);
}

/** Splits channels into heads and moves these before time: [B,T,C] -> [B,H,T,hd]. */
function toHeads(g: GraphBuilder, name: string, x: string): string {
  return g.add(`${name}.heads`, 'Transpose', [g.add(`${name}.split`, 'Reshape', [x, 'headShape'])], { perm: [0, 2, 1, 3] });
}

/** Rotary positions: channels i and i + hd/2 of a head turn by position * base^(-2i/hd) (Su et al., RoFormer, eq. 34). */
function rotated(g: GraphBuilder, name: string, x: string): string {
  const [low, high] = g.split([`${name}.low`, `${name}.high`], x) as [string, string];
  const times = (tag: string, a: string, b: string) => g.add(`${name}.${tag}`, 'Mul', [a, b]);
  const first = g.add(`${name}.first`, 'Sub', [times('lowCos', low, 'cos'), times('highSin', high, 'sin')]);
  const second = g.add(`${name}.second`, 'Add', [times('highCos', high, 'cos'), times('lowSin', low, 'sin')]);
  return g.add(`${name}.rotated`, 'Concat', [first, second], { axis: -1 });
}

function attention(g: GraphBuilder, l: string, x: string): string {
  const [q, k, v] = g.split([`${l}.q`, `${l}.k`, `${l}.v`], g.add(`${l}.qkvOut`, 'MatMul', [x, `${l}.qkv`])) as [string, string, string];
  const queries = rotated(g, `${l}.q`, toHeads(g, `${l}.q`, q));
  const keys = g.add(`${l}.keysT`, 'Transpose', [rotated(g, `${l}.k`, toHeads(g, `${l}.k`, k))], { perm: [0, 1, 3, 2] });
  const scaled = g.add(`${l}.scaled`, 'Mul', [g.add(`${l}.scores`, 'MatMul', [queries, keys]), 'scale']);
  const weights = g.add(`${l}.weights`, 'Softmax', [g.add(`${l}.masked`, 'Add', [scaled, 'mask'])], { axis: -1 });
  const mixed = g.add(`${l}.mixed`, 'MatMul', [weights, toHeads(g, `${l}.v`, v)]);
  const joined = g.add(`${l}.joined`, 'Reshape', [g.add(`${l}.byTime`, 'Transpose', [mixed], { perm: [0, 2, 1, 3] }), 'channelShape']);
  return g.add(`${l}.attended`, 'MatMul', [joined, `${l}.attnOut`]);
}

function mlp(g: GraphBuilder, l: string, x: string): string {
  const hidden = g.add(`${l}.hidden`, 'MatMul', [x, `${l}.fc1`]);
  const gate = g.add(`${l}.gate`, 'Sigmoid', [g.add(`${l}.gateIn`, 'Mul', [hidden, 'geluScale'])]);
  return g.add(`${l}.mlp`, 'MatMul', [g.add(`${l}.gated`, 'Mul', [hidden, gate]), `${l}.fc2`]);
}

/** Constants of the graph, and what depends on T alone: positions, rotation tables and causal mask, cut to the T of the input. */
function prologue(g: GraphBuilder, config: ModelConfig): void {
  const { T, C, H, ropeBase, normEps } = config;
  const half = C / H / 2;
  const table = (f: (angle: number) => number) =>
    Float32Array.from({ length: T * half }, (_, i) => f(Math.floor(i / half) * ropeBase ** (-(i % half) / half)));
  g.constant('cosTable', [T, half], table(Math.cos));
  g.constant('sinTable', [T, half], table(Math.sin));
  g.constant('steps', [T], Float32Array.from({ length: T }, (_, i) => i));
  g.constant('two', [], Float32Array.of(2));
  g.constant('eps', [], Float32Array.of(normEps));
  g.constant('scale', [], Float32Array.of(1 / Math.sqrt(C / H)));
  g.constant('geluScale', [], Float32Array.of(1.702));
  g.constant('open', [], Float32Array.of(0));
  g.constant('closed', [], Float32Array.of(MASKED));
  g.ints('lastAxis', -1);
  g.ints('axis0', 0);
  g.ints('axis1', 1);
  g.ints('from0', 0);
  g.ints('headShape', 0, 0, H, C / H);
  g.ints('channelShape', 0, 0, C);
  g.add('length', 'Shape', ['tokens'], { start: 1, end: 2 });
  const cut = (output: string, input: string) => g.add(output, 'Slice', [input, 'from0', 'length', 'axis0']);
  cut('cos', 'cosTable');
  cut('sin', 'sinTable');
  cut('positions', 'positionEmbedding');
  cut('stepsT', 'steps');
  const rows = g.add('rows', 'Unsqueeze', ['stepsT', 'axis1']);
  const columns = g.add('columns', 'Unsqueeze', ['stepsT', 'axis0']);
  g.add('mask', 'Where', [g.add('future', 'Greater', [columns, rows]), 'closed', 'open']);
}

/**
 * The file of a policy.
 * @param params flat vector, paramLayout; gains and matrices become initialisers under the layout's names, bit for bit.
 */
export function policyToOnnx(config: ModelConfig, params: Float32Array, metadata: PolicyMetadata): Uint8Array<ArrayBuffer> {
  const layout = paramLayout(config);
  invariant(params.length === layout.flatSize, `${params.length} floats given, the layout has ${layout.flatSize}`);
  const g = new GraphBuilder();
  for (const spec of layout.specs) g.constant(spec.name, spec.shape, params.slice(spec.offset, spec.offset + spec.size));
  prologue(g, config);
  let x = g.add('x0', 'Add', [g.add('embedded', 'Gather', ['tokenEmbedding', 'tokens'], { axis: 0 }), 'positions']);
  for (let layer = 0; layer < config.L; layer++) {
    const l = `l${layer}`;
    x = g.add(`${l}.afterAttention`, 'Add', [x, attention(g, l, rmsNorm(g, `${l}.n1`, x, `${l}.norm1`))]);
    x = g.add(`${l}.afterMlp`, 'Add', [x, mlp(g, l, rmsNorm(g, `${l}.n2`, x, `${l}.norm2`))]);
  }
  g.add('logits', 'MatMul', [rmsNorm(g, 'nf', x, 'finalNorm'), 'unembed']);
  return writeOnnx({
    graphName: GRAPH_NAME,
    nodes: g.nodes,
    initializers: g.tensors,
    inputs: [{ name: 'tokens', type: 'int32', dims: ['B', 'T'] }],
    outputs: [{ name: 'logits', type: 'float', dims: ['B', 'T', config.V] }],
    metadata: { model: metadata.model, task: metadata.task, seed: String(metadata.seed), parameters: String(layout.count) },
  });
}

/**
 * Reads a policy's weights back: flat vector, paramLayout, padding 0.
 * @throws UserError when the file is damaged, is not a policy of this configuration, or holds a weight that is not finite.
 */
export function onnxToParams(config: ModelConfig, bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const contents = readOnnx(bytes);
  const wrong = (what: string) => new UserError(`The model file is not a policy that this page can run: ${what}.`, `It must be written by "ratioscope pretrain" for the model "${config.id}".`);
  if (contents.graphName !== GRAPH_NAME) throw wrong(`its graph is named "${contents.graphName.slice(0, 40)}"`);
  if (contents.irVersion !== IR_VERSION || contents.opset !== OPSET) throw wrong(`IR version ${contents.irVersion}, opset ${contents.opset}; expected ${IR_VERSION} and ${OPSET}`);
  const layout = paramLayout(config);
  const flat = new Float32Array(layout.flatSize);
  const target = new Uint8Array(flat.buffer);
  for (const spec of layout.specs) {
    const found = contents.initializers.filter((tensor) => tensor.name === spec.name);
    const [tensor] = found;
    if (!tensor || found.length > 1) throw wrong(`${found.length} weights named ${spec.name}`);
    if (tensor.dataType !== 1 || tensor.raw.length !== 4 * spec.size || tensor.dims.join() !== spec.shape.join()) {
      throw wrong(`${spec.name} has shape [${tensor.dims.join(', ')}] and ${tensor.raw.length} bytes, expected float32 [${spec.shape.join(', ')}]`);
    }
    target.set(tensor.raw, 4 * spec.offset);
  }
  if (!flat.every(Number.isFinite)) {
    throw new UserError('The model file holds weights that are not finite numbers.', 'The training run that wrote it diverged: use another file, or pretrain again with a lower learning rate.');
  }
  return flat;
}
