// Every operation of the admin routes, read out of the server's own description, with every place that takes a text.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { GuardedServer } from './guarded-server.ts';

export interface AdminOperation {
  readonly method: string;
  /** `/admin/v1/keys/{id}` */
  readonly path: string;
  readonly queryNames: readonly string[];
  /** A body that is taken as it is; undefined: it takes none. */
  readonly example: unknown;
}

type Operation = OpenAPIV3_1.OperationObject;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export async function listAdminOperations({ address }: Pick<GuardedServer, 'address'>): Promise<AdminOperation[]> {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as OpenAPIV3_1.Document;
  const paths = Object.entries(document.paths ?? {}).filter(([path]) => path.startsWith('/admin/'));
  return paths.flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method] as Operation | undefined;
      return operation === undefined ? [] : [toOperation(method, path, operation)];
    }),
  );
}

function toOperation(method: string, path: string, { parameters = [], requestBody }: Operation): AdminOperation {
  const queryNames = (parameters as OpenAPIV3_1.ParameterObject[])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);
  const content = (requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content['application/json'];
  return { method: method.toUpperCase(), path, queryNames, example: exampleOf(content) };
}

function exampleOf(content: OpenAPIV3_1.MediaTypeObject | undefined): unknown {
  if (content === undefined) return undefined;
  const [first] = Object.values(content.examples ?? {}) as OpenAPIV3_1.ExampleObject[];
  const example: unknown = content.example ?? first?.value ?? (content.schema as { example?: unknown })?.example;
  if (example === undefined) throw new Error('A body without an example.');
  return example;
}

/** The example with the text in the place of one of its values, for each of them; and as a name. */
export function bodiesWith(text: string, example: unknown): unknown[] {
  if (typeof example !== 'object' || example === null) return [text];
  if (Array.isArray(example)) {
    return [[text], ...example.flatMap((item, at) => bodiesWith(text, item).map((body) => example.with(at, body)))];
  }
  const changed = Object.entries(example).flatMap(([name, value]) => [
    { ...example, [name]: text },
    ...bodiesWith(text, value).map((body) => ({ ...example, [name]: body })),
  ]);
  return [...changed, { ...example, [text]: text }];
}
