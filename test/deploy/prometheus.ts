// Prometheus itself, scraping servers and evaluating the alerts of deploy/observability, until it is disposed of.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { until } from '../waiting/until.ts';
import { OBSERVABILITY } from './expressions.ts';

const PROGRAM = 'prometheus';
/** Also of the alerts. */
const INTERVAL = '1s';

export const hasPrometheus = (): boolean => spawnSync(PROGRAM, ['--version']).error === undefined;

export interface Scraped {
  /** `127.0.0.1:8080` */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

const vector = z.object({
  data: z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});
const ruleGroups = z.object({
  data: z.object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            name: z.string(),
            health: z.enum(['ok', 'err', 'unknown']),
            state: z.enum(['inactive', 'pending', 'firing']),
          }),
        ),
      }),
    ),
  }),
});

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class Prometheus {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #address: string;

  private constructor(folder: string, child: ChildProcess, address: string) {
    this.#folder = folder;
    this.#child = child;
    this.#address = address;
  }

  /** @param job as the alerts expect it */
  static async start(job: string, servers: readonly Scraped[]): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-prometheus-'));
    const file = join(folder, 'prometheus.yaml');
    const targets = servers.map(({ address, labels }) => ({ targets: [address], labels }));
    writeFileSync(
      file,
      JSON.stringify({
        global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL },
        rule_files: [join(OBSERVABILITY, 'alerts.yaml')],
        scrape_configs: [{ job_name: job, static_configs: targets }],
      }),
    );
    const child = spawn(
      PROGRAM,
      [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, '--web.listen-address=127.0.0.1:0'],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let printed = '';
    for await (const line of createInterface({ input: child.stderr })) {
      printed += `${line}\n`;
      const address = /msg="Listening on" address=(127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (address === undefined) continue;
      child.stderr.resume();
      return new Prometheus(folder, child, `http://${address}`);
    }
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`Prometheus ended before it listened:\n${printed}`);
  }

  /** @returns what an expression gives now, one sample a series. @throws Error when Prometheus cannot take it */
  async query(expression: string): Promise<Sample[]> {
    const { data } = vector.parse(await this.#ask(`query?query=${encodeURIComponent(expression)}`));
    return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  }

  async untilSome(expression: string): Promise<Sample[]> {
    let found: Sample[] = [];
    await until(
      `Prometheus has ${expression}`,
      async () => {
        found = await this.query(expression);
        return found.length > 0;
      },
      { pauseMs: 200 },
    );
    return found;
  }

  /** Alert → whether it could be evaluated, and where it stands. */
  async alerts(): Promise<Map<string, { readonly health: string; readonly state: string }>> {
    const { data } = ruleGroups.parse(await this.#ask('rules?type=alert'));
    return new Map(data.groups.flatMap(({ rules }) => rules.map((rule) => [rule.name, rule] as const)));
  }

  async dispose(): Promise<void> {
    const left = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await left;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ask(path: string): Promise<unknown> {
    const reply = await fetch(`${this.#address}/api/v1/${path}`);
    if (!reply.ok) throw new Error(await reply.text());
    return await reply.json();
  }
}
