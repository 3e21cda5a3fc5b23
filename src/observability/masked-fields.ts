// Fields whose names say that they hold a key or a caller's text, masked before they are written. Our own: the log
// library's costs five times as much as the line it is for.

export const MASK = '[redacted]';

/** Nothing we write has these fields; they are here for the day somebody passes a whole object. */
const MASKED: ReadonlySet<string> = new Set([
  'authorization',
  'headers',
  'body',
  'state',
  'questions',
  'messages',
  'input',
  'secret',
  'apiKey',
]);

type Fields = Record<string, unknown>;

/** For the logger: of these fields it writes that they are masked, also where every line of a child has them. */
export const MASKING_SERIALIZERS = Object.fromEntries([...MASKED].map((name) => [name, () => MASK]));

/**
 * In the objects that the fields hold.
 * @param described names of fields that have a serializer of their own, which takes the object as it is
 */
export function maskInside(fields: Fields, described: ReadonlySet<string>): Fields {
  let masked: Fields | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value !== 'object' || value === null || described.has(name)) continue;
    const written = maskNamed(value as Fields);
    if (written === value) continue;
    masked ??= { ...fields };
    masked[name] = written;
  }
  return masked ?? fields;
}

function maskNamed(fields: Fields): Fields {
  const names = Object.keys(fields).filter((name) => MASKED.has(name));
  return names.length === 0 ? fields : { ...fields, ...Object.fromEntries(names.map((name) => [name, MASK])) };
}
