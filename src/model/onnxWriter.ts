/**
 * Just enough of the ONNX file format (protobuf) to write an inference graph: messages as lists of fields, no dependency.
 * Field numbers are those of onnx.proto (ONNX 1.16, IR version 9).
 */

export const IR_VERSION = 9;
export const OPSET = 20;
/** TensorProto.DataType. */
export const DATA_TYPE = { float: 1, int32: 6, int64: 7 } as const;

type Bytes = Uint8Array;
const utf8 = new TextEncoder();

function concat(parts: readonly Bytes[]): Bytes {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Base-128 varint of a signed 64-bit integer (negative numbers take ten bytes, as protobuf has it). */
function varint(value: number | bigint): Bytes {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

const integer = (field: number, value: number | bigint): Bytes => concat([varint(field << 3), varint(value)]);
const bytesField = (field: number, value: Bytes): Bytes => concat([varint((field << 3) | 2), varint(value.length), value]);
const text = (field: number, value: string): Bytes => bytesField(field, utf8.encode(value));
const float = (field: number, value: number): Bytes => concat([varint((field << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)]);
const message = (field: number, ...parts: readonly Bytes[]): Bytes => bytesField(field, concat(parts));

/** An attribute value: an integer, a list of integers, or a float given as `{ float }`. */
export type Attribute = number | readonly number[] | { float: number };

export interface OnnxNode {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: Readonly<Record<string, Attribute>>;
}

export interface OnnxTensor {
  name: string;
  dims: readonly number[];
  data: Float32Array | Int32Array | BigInt64Array;
}

/** A graph input or output; a string dimension is free and named. */
export interface OnnxValue {
  name: string;
  type: 'float' | 'int32';
  dims: readonly (number | string)[];
}

export interface OnnxModel {
  graphName: string;
  nodes: readonly OnnxNode[];
  initializers: readonly OnnxTensor[];
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
  metadata: Readonly<Record<string, string>>;
}

function attributeProto(name: string, value: Attribute): Bytes {
  if (typeof value === 'number') return message(5, text(1, name), integer(3, value), integer(20, 2));
  if ('float' in value) return message(5, text(1, name), float(2, value.float), integer(20, 1));
  return message(5, text(1, name), ...value.map((v) => integer(8, v)), integer(20, 7));
}

function nodeProto(node: OnnxNode): Bytes {
  return message(
    1,
    ...node.inputs.map((name) => text(1, name)),
    ...node.outputs.map((name) => text(2, name)),
    text(3, node.outputs[0] ?? ''),
    text(4, node.op),
    ...Object.entries(node.attributes ?? {}).map(([name, value]) => attributeProto(name, value)),
  );
}

function tensorProto({ name, dims, data }: OnnxTensor): Bytes {
  const type = data instanceof Float32Array ? DATA_TYPE.float : data instanceof Int32Array ? DATA_TYPE.int32 : DATA_TYPE.int64;
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message(5, ...dims.map((d) => integer(1, d)), integer(2, type), text(8, name), bytesField(9, raw));
}

function valueProto(field: number, { name, type, dims }: OnnxValue): Bytes {
  const shape = message(2, ...dims.map((d) => message(1, typeof d === 'number' ? integer(1, d) : text(2, d))));
  return message(field, text(1, name), message(2, message(1, integer(1, DATA_TYPE[type]), shape)));
}

/** The bytes of a model file: IR version 9, default domain at opset 20. Tensor data is little-endian, as the host's. */
export function writeOnnx(model: OnnxModel): Uint8Array<ArrayBuffer> {
  const graph = message(
    7,
    ...model.nodes.map(nodeProto),
    text(2, model.graphName),
    ...model.initializers.map(tensorProto),
    ...model.inputs.map((value) => valueProto(11, value)),
    ...model.outputs.map((value) => valueProto(12, value)),
  );
  const metadata = Object.entries(model.metadata).map(([key, value]) => message(14, text(1, key), text(2, value)));
  return new Uint8Array(concat([integer(1, IR_VERSION), text(2, 'ratioscope'), graph, message(8, text(1, ''), integer(2, OPSET)), ...metadata]));
}
