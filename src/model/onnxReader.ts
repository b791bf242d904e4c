import { UserError } from '../core/errors';

/**
 * Reads the parts of an ONNX file that this project needs: versions, names, initialisers, metadata. The file may come
 * from anywhere, so every length is checked against what is left before use; nothing is allocated on a file's word.
 */

export interface OnnxInitializer {
  name: string;
  dims: number[];
  /** TensorProto.DataType: 1 = float32, 6 = int32, 7 = int64. */
  dataType: number;
  /** A view of the file's bytes, little-endian. */
  raw: Uint8Array;
}

export interface OnnxContents {
  irVersion: number;
  /** Version of the default operator domain. */
  opset: number;
  graphName: string;
  initializers: OnnxInitializer[];
  /** Names of the graph's inputs and outputs. */
  inputs: string[];
  outputs: string[];
  metadata: Record<string, string>;
}

const HINT = 'The file is incomplete or not an ONNX model: reload the page, or download it again.';

function damaged(what: string): UserError {
  return new UserError(`The model file is damaged: ${what}.`, HINT);
}

/** One field: `value` for varints and fixed-width numbers, `bytes` for length-delimited ones. */
interface Field {
  number: number;
  value: bigint;
  bytes: Uint8Array | null;
}

/** Walks the fields of one message. Every step advances, so it ends after at most `bytes.length` fields. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw damaged('it ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw damaged('a number is longer than 64 bits');
  };
  const take = (length: bigint): Uint8Array => {
    if (length > BigInt(bytes.length - at)) throw damaged('a part is longer than the file');
    at += Number(length);
    return bytes.subarray(at - Number(length), at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const wire = Number(tag & 7n);
    if (number < 1 || number > 0x1fffffff) throw damaged(`field number ${number}`);
    if (wire === 0) yield { number, value: varint(), bytes: null };
    else if (wire === 2) yield { number, value: 0n, bytes: take(varint()) };
    else if (wire === 1 || wire === 5) {
      take(wire === 1 ? 8n : 4n);
      yield { number, value: 0n, bytes: null };
    } else throw damaged(`wire type ${wire}`);
  }
}

function textOf(field: Field): string {
  if (!field.bytes) throw damaged('a name is not text');
  return new TextDecoder().decode(field.bytes);
}

function messageOf(field: Field): Uint8Array {
  if (!field.bytes) throw damaged('a number stands where a part was expected');
  return field.bytes;
}

function smallInteger(value: bigint, what: string): number {
  if (value > 0x7fffffffn) throw damaged(`${what} ${value}`);
  return Number(value);
}

function readInitializer(bytes: Uint8Array): OnnxInitializer {
  const tensor: OnnxInitializer = { name: '', dims: [], dataType: 0, raw: new Uint8Array(0) };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && field.bytes) {
      // Packed form: writers may choose it for any list of integers. Read as fields of value only.
      for (const dim of packed(field.bytes)) tensor.dims.push(smallInteger(dim, 'a dimension of'));
    } else if (field.number === 1) tensor.dims.push(smallInteger(field.value, 'a dimension of'));
    else if (field.number === 2) tensor.dataType = smallInteger(field.value, 'data type');
    else if (field.number === 8) tensor.name = textOf(field);
    else if (field.number === 9) tensor.raw = messageOf(field);
    if (tensor.dims.length > 8) throw damaged('a tensor has over 8 dimensions');
  }
  return tensor;
}

function packed(bytes: Uint8Array): bigint[] {
  const out: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte < 0x80) {
      out.push(value);
      value = 0n;
      shift = 0n;
    }
    if (shift > 63n || out.length > 8) throw damaged('a list of dimensions');
  }
  if (shift > 0n) throw damaged('a list of dimensions');
  return out;
}

function nameOf(bytes: Uint8Array): string {
  for (const field of fieldsOf(bytes)) if (field.number === 1) return textOf(field);
  return '';
}

/**
 * Parses an ONNX file.
 * @throws UserError when the bytes are no ONNX model, are cut short, or contradict themselves.
 */
export function readOnnx(bytes: Uint8Array): OnnxContents {
  const contents: OnnxContents = { irVersion: 0, opset: 0, graphName: '', initializers: [], inputs: [], outputs: [], metadata: {} };
  let graphs = 0;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) contents.irVersion = smallInteger(field.value, 'IR version');
    else if (field.number === 7) {
      graphs++;
      readGraph(messageOf(field), contents);
    } else if (field.number === 8) {
      let domain = '';
      let version = 0;
      for (const part of fieldsOf(messageOf(field))) {
        if (part.number === 1) domain = textOf(part);
        else if (part.number === 2) version = smallInteger(part.value, 'opset');
      }
      if (domain === '') contents.opset = version;
    } else if (field.number === 14) {
      let key = '';
      let value = '';
      for (const part of fieldsOf(messageOf(field))) {
        if (part.number === 1) key = textOf(part);
        else if (part.number === 2) value = textOf(part);
      }
      Object.defineProperty(contents.metadata, key, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  if (graphs !== 1) throw damaged(graphs === 0 ? 'it holds no graph' : 'it holds several graphs');
  if (contents.irVersion === 0 || contents.opset === 0) throw damaged('it names no version');
  return contents;
}

function readGraph(bytes: Uint8Array, contents: OnnxContents): void {
  for (const field of fieldsOf(bytes)) {
    if (field.number === 2) contents.graphName = textOf(field);
    else if (field.number === 5) contents.initializers.push(readInitializer(messageOf(field)));
    else if (field.number === 11) contents.inputs.push(nameOf(messageOf(field)));
    else if (field.number === 12) contents.outputs.push(nameOf(messageOf(field)));
  }
}
