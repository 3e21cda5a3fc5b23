// One page in a browser, watched: whatever a user would have to worry about and a test does not see is noted as a fault.

import { type Browser, type BrowserContext, type ConsoleMessage, errors, type Page } from 'playwright-core';
import { testLogs } from '../log-scan/test-logs.ts';
import { until } from '../waiting/until.ts';
import { findAccessibilityFaults } from './accessibility.ts';

/** Less than the time a test has, so that what did not come is what one reads. */
const WAIT_MS = 90_000;
/** For `expect.poll`. */
export const WAIT = { timeout: WAIT_MS };
const HEIGHT_PX = 900;
/** No request: what they hold is in them. */
const LOCAL_SCHEMES = ['data:', 'blob:', 'about:'];

export interface VisitOptions {
  /** Default: 1280. */
  readonly widthPx?: number;
  /** Default: light. */
  readonly scheme?: 'light' | 'dark';
  readonly prefersReducedMotion?: boolean;
  readonly hasForcedColors?: boolean;
  /** Origins besides the page's own that it may ask. */
  readonly otherOrigins?: readonly string[];
}

/** In tests got from `Visitor.visit`, which also closes it. */
export class Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #origins: ReadonlySet<string>;
  readonly #expected: RegExp[] = [];
  #faults: string[] = [];

  private constructor(context: BrowserContext, page: Page, origins: readonly string[]) {
    this.context = context;
    this.page = page;
    this.#origins = new Set(origins);
  }

  /** @param url an address of the server under test; its origin is the only one that the page may ask */
  static async open(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
    const { widthPx = 1280, scheme = 'light', prefersReducedMotion = false, hasForcedColors = false } = options;
    const context = await browser.newContext({
      viewport: { width: widthPx, height: HEIGHT_PX },
      colorScheme: scheme,
      reducedMotion: prefersReducedMotion ? 'reduce' : 'no-preference',
      forcedColors: hasForcedColors ? 'active' : 'none',
    });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const visit = new Visit(context, page, [new URL(url).origin, ...(options.otherOrigins ?? [])]);
    visit.#watchRequests();
    await visit.#watchPage(page);
    context.on('page', (other) => void visit.#watchPage(other).catch((error: unknown) => visit.#noteLost(error)));
    await page.goto(url);
    return visit;
  }

  /** Those of now that nobody expected, in the order they came. */
  faults(): readonly string[] {
    return this.#faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
  }

  /** For tests of failures: waits for a fault that is to come. From now on those alike are none. */
  async expectFault(pattern: RegExp): Promise<void> {
    await until(`a fault is like ${pattern}`, () => this.#faults.some((fault) => pattern.test(fault)));
    this.#expected.push(pattern);
  }

  /** As axe-core sees the page as it stands now: nothing that is serious or critical. */
  async accessibilityFaults(): Promise<readonly string[]> {
    return await findAccessibilityFaults(this.page);
  }

  #watchRequests(): void {
    this.context.on('console', (message) => this.#noteConsole(message));
    this.context.on('weberror', (error) => this.#faults.push(`uncaught: ${String(error.error())}`));
    this.context.on('request', (request) => {
      testLogs.keepAuthorization(request.headers()['authorization']);
      const body = request.postData();
      if (body !== null) testLogs.keepBody(body);
      this.#noteForeign(request.url());
    });
  }

  /** From inside the browser, so that the page cannot hide a violation and its policy need not allow a report. */
  async #watchPage(page: Page): Promise<void> {
    page.on('crash', () => this.#faults.push('the page crashed'));
    page.on('websocket', (socket) => this.#noteForeign(socket.url()));
    const session = await this.context.newCDPSession(page);
    session.on('Audits.issueAdded', ({ issue }) => {
      const violation = issue.details.contentSecurityPolicyIssueDetails;
      if (violation === undefined) return;
      const { violatedDirective, blockedURL = 'inline' } = violation;
      this.#faults.push(`content security policy: ${violatedDirective} blocked ${blockedURL}`);
    });
    await session.send('Audits.enable');
  }

  #noteConsole(message: ConsoleMessage): void {
    // Asked for by the browser itself, now and then, where a page names no icon.
    if (message.location().url.endsWith('/favicon.ico')) return;
    if (message.type() === 'error') this.#faults.push(`console: ${message.text()} (${message.location().url})`);
  }

  #noteForeign(url: string): void {
    const { origin, protocol } = new URL(url);
    if (LOCAL_SCHEMES.includes(protocol) || this.#origins.has(origin)) return;
    this.#faults.push(`request to another origin: ${origin}`);
  }

  /** A page that closes before it can be watched has nothing to tell. */
  #noteLost(error: unknown): void {
    if (!(error instanceof errors.TimeoutError) && /closed/.test(String(error))) return;
    this.#faults.push(`a page could not be watched: ${String(error)}`);
  }
}
