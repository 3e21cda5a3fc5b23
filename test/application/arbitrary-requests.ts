// Generated request bodies: mostly good, with something wrong now and then, names and texts of every kind.

import fc from 'fast-check';

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('[SEP]', '\u0000', '\ud800', '__proto__'),
);
const anyName = fc.oneof(anyText, fc.constantFrom('', '0', '10', 'constructor', 'toString', 'true', 'n'.repeat(1025)));
const wrong = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(null, 0, -1, '', [], {}, true, 1e308));
/** Mostly the right value, sometimes any other, sometimes none. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 50, arbitrary: right },
    { weight: 1, arbitrary: wrong },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
const named = <T>(value: fc.Arbitrary<T>, maxLength: number) =>
  fc.array(fc.tuple(anyName, value), { maxLength }).map((entries) => new Map(entries));

const question = fc.oneof(
  fc.record({
    type: mostly(fc.constant('choice')),
    instructions: mostly(anyText),
    criteria: mostly(named(mostly(fc.oneof(anyText, fc.constant(null))), 6)),
  }),
  fc.record({
    type: mostly(fc.constant('score')),
    instructions: mostly(anyText),
    criteria: mostly(fc.array(mostly(anyText), { maxLength: 12 })),
  }),
  fc.record({
    type: mostly(fc.constant('noul')),
    instructions: mostly(anyText),
    criteria: mostly(fc.record({ true: mostly(anyText), false: mostly(anyText) }, { requiredKeys: [] })),
  }),
);
const model = mostly(fc.constantFrom('kev', 'kev', 'kev', 'text-embed-mini', 'llama', 'nope'));
export const arbitraryDecision = fc.record({
  model,
  state: mostly(anyText),
  questions: mostly(named(mostly(question), 5)),
});
export const arbitraryEmbedding = fc.record({
  model: mostly(fc.constantFrom('text-embed-mini', 'text-embed-mini', 'kev')),
  input: fc.oneof(
    mostly(anyText),
    fc.array(mostly(anyText)),
    fc.array(mostly(fc.nat())),
    fc.array(mostly(fc.array(mostly(fc.nat())))),
  ),
  encoding_format: mostly(fc.constantFrom('float', 'base64', null)),
  dimensions: mostly(fc.integer({ min: 1, max: 8 })),
});
export const arbitraryChat = fc.record({
  model: mostly(fc.constant('llama')),
  messages: mostly(fc.array(wrong)),
  stream: mostly(fc.boolean()),
});

/** JSON text of Maps too; names given twice cannot come about. */
export function writeRequest(value: unknown): string {
  if (value instanceof Map) return writeObject([...value]);
  if (Array.isArray(value))
    return `[${value.map((item) => (item === undefined ? 'null' : writeRequest(item))).join(',')}]`;
  if (typeof value === 'object' && value !== null) return writeObject(Object.entries(value));
  return JSON.stringify(value);
}

function writeObject(entries: readonly (readonly [string, unknown])[]): string {
  const present = entries.filter(([, value]) => value !== undefined);
  return `{${present.map(([name, value]) => `${JSON.stringify(name)}:${writeRequest(value)}`).join(',')}}`;
}

/** Bodies that are rarely even JSON. */
export const arbitraryNoise = fc.oneof(
  fc.json(),
  anyText,
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);
