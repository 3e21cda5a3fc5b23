// axe-core in a page as it stands. It runs in a world of its own beside the page's scripts, where no content security
// policy reaches it and the page cannot see it.

import type { Result, RunOptions } from 'axe-core';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { z } from 'zod';

/** What is slight is for people to weigh. */
const SERIOUS: ReadonlySet<unknown> = new Set<Result['impact']>(['serious', 'critical']);
const OPTIONS: RunOptions = {
  resultTypes: ['violations'],
  // It would fetch style sheets by itself, for one rule about turned screens.
  preload: false,
};

/** A colour on its way to another is neither. */
const SETTLED =
  'Promise.allSettled(document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished))';

const foundSchema = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullish(),
    help: z.string(),
    nodes: z.array(z.object({ target: z.array(z.unknown()), failureSummary: z.string().optional() })),
  }),
);

/** @returns each place that has a serious or critical fault, with the rule and what would mend it */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'axe',
    });
    const expression = `${axe.source}; ${SETTLED}.then(() => axe.run(document, ${JSON.stringify(OPTIONS)})).then(({ violations }) => JSON.stringify(violations))`;
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      contextId,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    }
    const found = foundSchema.parse(JSON.parse(String(result.value)));
    return found
      .filter(({ impact }) => SERIOUS.has(impact))
      .flatMap(({ id, help, nodes }) =>
        nodes.map(({ target, failureSummary = '' }) => `${id} at ${target.join(' ')}: ${help}. ${failureSummary}`),
      );
  } finally {
    await session.detach();
  }
}
