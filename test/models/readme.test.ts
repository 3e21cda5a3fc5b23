// The first request of README.md, asked of the shipped model: what is printed there is what the server answers.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const [, request = '', reply = ''] =
  /-d '(\{.*?\})'\n.*?\n```json\n(.*?)\n```/s.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];

const body = z.object({ state: z.string(), questions: z.record(z.string(), z.unknown()) });
const replySchema = z.object({
  answers: z.object({
    department: z.object({ choice: z.string(), probabilities: z.record(z.string(), z.number()) }).loose(),
  }),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.literal(0) }),
});

const folder = mkdtempSync(join(tmpdir(), 'umpire-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is answered as it says', async () => {
  const { state, questions } = body.parse(JSON.parse(request));
  const questionsFile = join(folder, 'questions.json');
  writeFileSync(questionsFile, JSON.stringify(questions));
  const command = ['src/launch.js', 'decide', '--json', '--questions', questionsFile, '--text', state];
  const env = { ...process.env, UMPIRE_DATA_DIR: folder, UMPIRE_URL: '' };
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env });

  const [answered, printed] = [replySchema.parse(JSON.parse(stdout)), replySchema.parse(JSON.parse(reply))];
  expect(answered.usage).toEqual(printed.usage);
  expect(answered.answers.department.choice).toBe(printed.answers.department.choice);
  for (const [name, probability] of Object.entries(printed.answers.department.probabilities)) {
    // int8 differs a little between CPUs; other weights differ more, and the README must follow them.
    expect(Math.abs((answered.answers.department.probabilities[name] ?? 0) - probability)).toBeLessThan(0.05);
  }
});
