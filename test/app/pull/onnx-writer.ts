// Graphs as bytes, written field by field (onnx.proto): as small as a test needs them, and as wrong.

type Field = Buffer;

export interface WrittenValue {
  readonly name: string;
  /** Of onnx.proto: 1 float32, 7 int64, 9 bool, 10 float16. */
  readonly type: number;
  readonly shape: readonly (number | string)[];
}

export interface WrittenNode {
  readonly type: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly ints?: Readonly<Record<string, number | readonly number[]>>;
}

export interface WrittenTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: Float32Array;
  /** Name of a file beside the graph that has the values, from its begin on. */
  readonly file?: string;
}

export interface WrittenGraph {
  readonly inputs: readonly WrittenValue[];
  readonly outputs: readonly WrittenValue[];
  readonly nodes: readonly WrittenNode[];
  readonly tensors: readonly WrittenTensor[];
  readonly opset?: number;
}

export const FLOAT32 = 1;
export const INT64 = 7;
export const FLOAT16 = 10;

const [VARINT, BYTES] = [0, 2];
const [INT_ATTRIBUTE, INTS_ATTRIBUTE] = [2, 7];
const EXTERNAL = 1;
const IR_VERSION = 8;

export function writeGraph({ inputs, outputs, nodes, tensors, opset = 17 }: WrittenGraph): Buffer {
  const graph = message([
    ...nodes.map((node) => bytes(1, writeNode(node))),
    text(2, 'tiny'),
    ...tensors.map((tensor) => bytes(5, writeTensor(tensor))),
    ...inputs.map((value) => bytes(11, writeValue(value))),
    ...outputs.map((value) => bytes(12, writeValue(value))),
  ]);
  return message([number(1, IR_VERSION), bytes(7, graph), bytes(8, message([text(1, ''), number(2, opset)]))]);
}

function writeNode({ type, inputs, outputs, ints = {} }: WrittenNode): Buffer {
  return message([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, type),
    ...Object.entries(ints).map(([name, value]) => bytes(5, writeAttribute(name, value))),
  ]);
}

function writeAttribute(name: string, value: number | readonly number[]): Buffer {
  if (typeof value === 'number') return message([text(1, name), number(3, value), number(20, INT_ATTRIBUTE)]);
  return message([text(1, name), ...value.map((item) => number(8, item)), number(20, INTS_ATTRIBUTE)]);
}

function writeTensor({ name, dims, values, file }: WrittenTensor): Buffer {
  const head = [...dims.map((size) => number(1, size)), number(2, FLOAT32), text(8, name)];
  const data = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  if (file === undefined) return message([...head, bytes(9, data)]);
  const entries = [
    ['location', file],
    ['offset', '0'],
    ['length', String(data.length)],
  ] as const;
  const external = entries.map(([key, value]) => bytes(13, message([text(1, key), text(2, value)])));
  return message([...head, ...external, number(14, EXTERNAL)]);
}

function writeValue({ name, type, shape }: WrittenValue): Buffer {
  const dims = shape.map((size) => bytes(1, message([typeof size === 'number' ? number(1, size) : text(2, size)])));
  return message([text(1, name), bytes(2, message([bytes(1, message([number(1, type), bytes(2, message(dims))]))]))]);
}

function message(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields);
}

function text(field: number, value: string): Field {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Field {
  return Buffer.concat([varint(field * 8 + BYTES), varint(value.length), value]);
}

function number(field: number, value: number): Field {
  // Negative numbers take all 64 bits.
  return Buffer.concat([varint(field * 8 + VARINT), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function varint(value: number | bigint): Buffer {
  const groups: number[] = [];
  let rest = BigInt(value);
  do {
    const group = Number(rest % 128n);
    rest /= 128n;
    groups.push(rest > 0n ? group + 128 : group);
  } while (rest > 0n);
  return Buffer.from(groups);
}
