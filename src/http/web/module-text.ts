// The text of one browser module as it is served: types stripped, and each import turned into an address. Browsers know no
// bare names such as `preact` without an import map, and the policy allows no inline one.

import { stripTypeScriptTypes } from 'node:module';
import { init, parse } from 'es-module-lexer';

/** Points to a file that is not served. */
const SOURCE_MAP = /^\/\/# sourceMappingURL=.*$/gm;

/** Once, before the first module is read. */
export const moduleReaderReady = init;

/**
 * @param isTyped whether the text is TypeScript; a compiled package has none
 * @param addressOf an import as it is written → the address to import from
 */
export function toBrowserModule(text: string, isTyped: boolean, addressOf: (specifier: string) => string): string {
  const script = (isTyped ? stripTypeScriptTypes(text) : text).replace(SOURCE_MAP, '');
  const [imports] = parse(script);
  const parts: string[] = [];
  let end = 0;
  for (const found of imports) {
    if (found.type !== 'static' && found.type !== 'reexport-star') continue;
    parts.push(script.slice(end, found.start), addressOf(found.specifier));
    end = found.end;
  }
  return parts.join('') + script.slice(end);
}
