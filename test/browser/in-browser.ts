// Tests that drive a browser: all of one file share one, and each fails at its end for what its pages did wrong.

import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { findBrowser } from './find-browser.ts';
import { Visit, type VisitOptions } from './visit.ts';

export interface Visitor {
  /** A page without any past: no storage, no cache. Closed when the test has ended, which fails if it has faults. */
  visit(url: string, options?: VisitOptions): Promise<Visit>;
}

const program = findBrowser({ env: process.env });

/** As `describe`. Skipped, with a line that says so, where there is no browser. */
export function describeInBrowser(name: string, tests: (visitor: Visitor) => void): void {
  if (program === undefined) {
    process.stderr.write(
      `SKIPPED: ${name}, for there is no Chromium. Install it (apt-get install chromium) or name it in CHROMIUM_PATH.\n`,
    );
  }
  describe.skipIf(program === undefined)(name, () => {
    let browser: Browser | undefined;
    let visits: Visit[] = [];

    beforeAll(async () => {
      if (program !== undefined) browser = await launch(program);
    });
    afterEach(async () => {
      const ended = visits;
      visits = [];
      for (const { context } of ended) await context.close();
      expect(ended.flatMap((visit) => visit.faults())).toEqual([]);
    });
    afterAll(async () => {
      await browser?.close();
    });

    tests({
      visit: async (url, options) => {
        if (browser === undefined) throw new Error('There is no browser yet: visit from a test or a hook of it.');
        const visit = await Visit.open(browser, url, options);
        visits.push(visit);
        return visit;
      },
    });
  });
}

/** Chromium's sandbox refuses to be root's. */
async function launch(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}
