// The programs in examples/ run as their first lines say, with the official clients, against a server with the shipped models.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childEnvironment, ROOT, ServerProcess } from '../process/server-process.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasPython) process.stderr.write('No python3 here: the examples in Python are left out.\n');
if (!hasCurl) process.stderr.write('No curl here: the example for it is left out.\n');

let server: ServerProcess;
let address: string;

beforeAll(async () => {
  server = new ServerProcess();
  address = await server.ready();
});

afterAll(async () => await server.dispose());

async function run(file: string, args: readonly string[], key = server.initialKey()) {
  const child = spawn(file, args, {
    cwd: ROOT,
    env: childEnvironment({ UMPIRE_URL: address, UMPIRE_API_KEY: key, PYTHONDONTWRITEBYTECODE: '1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code: code as number | null };
}

const runExample = (name: string, ...args: string[]) => run(process.execPath, [join('examples', name), ...args]);

describe('examples', () => {
  it('are those of the list', () => {
    const programs = readdirSync(join(ROOT, 'examples')).filter((name) => /\.(ts|py|sh)$/.test(name));
    expect(programs).toEqual([
      'choose-tool.sh',
      'find_similar.py',
      'guard-chat.ts',
      'rate_reviews.py',
      'route-tickets.ts',
    ]);
  });

  it('send messages to teams, and ask a person about the others', async () => {
    const { out, error, code } = await runExample('route-tickets.ts');
    expect({ error, code }).toEqual({ error: '', code: 0 });
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(13);
    expect(lines[0]).toMatch(/^(send to|ask {4}) {2}billing /);
    const sent = lines.filter((line) => line.startsWith('send to')).length;
    expect(lines.at(-1)).toBe(`${sent} of 12 sent without a look`);
  });

  it('hold back a chat message that is risky, and let an ordinary one pass', async () => {
    const risky = await runExample('guard-chat.ts');
    expect(risky.out).toMatch(/^attack 0\.\d\d, personal 0\.\d\d\nHeld back/);
    const ordinary = await runExample('guard-chat.ts', 'How long do I boil an egg?');
    expect(ordinary.out).toMatch(/\nAllowed\. Set UMPIRE_CHAT_MODEL/);
    expect([risky.code, ordinary.code, ordinary.error]).toEqual([0, 0, '']);
  });

  it.skipIf(!hasPython)('find the nearest sentences', async () => {
    const { out, error, code } = await run('python3', ['examples/find_similar.py', 'how do I sign in']);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(out.trim().split('\n')).toHaveLength(5);
    expect(out).toMatch(/sign/);
  });

  it.skipIf(!hasPython)('rate reviews in the order that a reader would', async () => {
    const { out, error, code } = await run('python3', ['examples/rate_reviews.py']);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    const [worst = 0, , best = 0] = [...out.matchAll(/^([\d.]+) of 5/gm)].map(([, rating]) => Number(rating));
    expect(best).toBeGreaterThan(worst);
  });

  it.skipIf(!hasPython)('say what is wrong in the words of the server', async () => {
    const { error, code } = await run('python3', ['examples/rate_reviews.py'], 'ump_wrong');
    expect(error).toMatch(/key/);
    expect(code).toBe(1);
  });

  it.skipIf(!hasCurl)('choose a tool with curl, quotes and backslashes in the request included', async () => {
    const chosen = async (...args: string[]) => JSON.parse((await run('sh', ['examples/choose-tool.sh', ...args])).out);
    expect(await chosen()).toMatchObject({ answers: { tool: { choice: 'get_weather' } } });
    expect(await chosen('Say "hi" \\ there')).toMatchObject({ answers: { tool: { type: 'choice' } } });
  });
});
