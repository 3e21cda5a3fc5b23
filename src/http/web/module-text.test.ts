import { beforeAll, describe, expect, it } from 'vitest';
import { moduleReaderReady, toBrowserModule } from './module-text.ts';

beforeAll(() => moduleReaderReady);

const addressOf = (specifier: string): string => `/assets/${specifier.replace('./', '')}`;

describe('a browser module', () => {
  it('has an address in every import and export from another', () => {
    const text =
      "import { h } from 'preact';\nimport './bars.ts';\nexport * from './tabs.ts';\nconst from = 'preact';\n";
    expect(toBrowserModule(text, true, addressOf)).toBe(
      "import { h } from '/assets/preact';\nimport '/assets/bars.ts';\nexport * from '/assets/tabs.ts';\nconst from = 'preact';\n",
    );
  });

  it('has no types, and asks for no module that only gives them', () => {
    const text = "import type { Bar } from './bar.ts';\nexport const width = (bar: Bar): number => bar.width;\n";
    const asked: string[] = [];
    const module = toBrowserModule(text, true, (specifier) => {
      asked.push(specifier);
      return specifier;
    });
    expect(module.replaceAll(/\s+/g, ' ').trim()).toBe('export const width = (bar ) => bar.width;');
    expect(asked).toEqual([]);
  });

  it('does not point to a source map, which is not served', () => {
    expect(toBrowserModule('export const a = 1;\n//# sourceMappingURL=a.js.map\n', false, addressOf)).not.toContain(
      'map',
    );
  });
});
