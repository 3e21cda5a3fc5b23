// The command line as typed: commands, their output, their exit codes.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unrestrictedKey } from '../../src/domain/api-key.ts';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import { until } from '../waiting/until.ts';
import { type Target, targetOf } from './decisions.ts';
import { type CommandSurroundings, runUmpire } from './run-umpire.ts';
import { GRAPH_CACHE, ROOT, ServerProcess } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-cli-'));
const LETTER = 'I was charged twice for my subscription this month and would like my money back.';
const CHOICE = ['--choice', 'Which team should handle this?', 'billing=payments, refunds', 'technical=bugs, outages'];

afterAll(() => rmSync(folder, { recursive: true }));

function umpire(args: readonly string[], around: Partial<CommandSurroundings> = {}) {
  return runUmpire(args, { cwd: folder, ...around });
}

describe('the command line', () => {
  it('shows its commands', async () => {
    const { code, out } = await umpire(['--help']);
    expect(code).toBe(0);
    for (const name of [
      'serve',
      'keys create',
      'keys list',
      'keys show',
      'keys update',
      'keys rotate',
      'keys disable',
      'keys enable',
      'keys revoke',
      'prices list',
      'prices set',
      'usage',
      'requests',
      'audit',
      'db backup',
      'db restore',
      'db check',
      'db copy',
      'models list',
      'models verify',
      'decide',
      'eval',
      'calibrate',
    ]) {
      expect(out).toMatch(new RegExp(`^ {2}${name} +[A-Z]`, 'm'));
    }
  });

  it('says everything to a reader that is slower than it', async () => {
    const dataDir = mkdtempSync(join(folder, 'many-keys-'));
    const stores = await openSqliteStores({ dataDir, exclusive: false });
    const names = Array.from({ length: 2000 }, (_, index) => `${index} ${'long name '.repeat(50)}`);
    for (const [index, name] of names.entries()) {
      const secret = {
        hash: String(index).padStart(64, '0'),
        visiblePrefix: 'ump_',
        createdAtMs: 0,
        expiresAtMs: null,
      };
      const audit = { atMs: 0, actor: 'command line', action: 'key.create', target: `key_${index}`, details: {} };
      const key = unrestrictedKey({ id: `key_${String(index).padStart(16, '0')}`, name });
      await stores.keys.insert(key, secret, audit);
    }
    await stores.close();
    const { code, out } = await umpire(['keys', 'list', '--json'], { env: { UMPIRE_DATA_DIR: dataDir } });
    expect(code).toBe(0);
    expect(JSON.parse(out).map(({ name }: { name: string }) => name)).toEqual(names);
  });

  it('shows the settings of the server', async () => {
    const { code, out } = await umpire(['serve', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('--engine-queue-deadline-ms …');
    expect(out).not.toContain('--api-key');
  });

  it('answers a mistake with exit code 2 and help', async () => {
    const { code, out, error } = await umpire(['keys', 'create', '--nam', 'x']);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(error).toContain("Unknown option '--nam'");
    expect(error).toContain('Usage: umpire keys create');
  });

  it('tells faults of the configuration without a stack', async () => {
    const { code, error } = await umpire(['serve', '--print-config', '--port', '99999']);
    expect(code).toBe(78);
    expect(error).toMatch(/^umpire: The configuration has a fault:\n {2}- port \(flag --port\): [^\n]*\n$/);
  });

  it('prints the configuration with origins and without secrets', async () => {
    const env = { UMPIRE_API_KEY: 'not-to-be-printed-ever', UMPIRE_HOST: '0.0.0.0' };
    const { code, out } = await umpire(['serve', '--print-config', '--port', '9', '--http-metrics-require-key'], {
      env,
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^port = 9 +\(flag --port\)$/m);
    expect(out).toMatch(/^host = "0\.0\.0\.0" +\(environment UMPIRE_HOST\)$/m);
    expect(out).toMatch(/^http\.metricsRequireKey = true +\(flag /m);
    expect(out).not.toContain('not-to-be-printed-ever');
  });
});

describe('umpire models', () => {
  it('list shows ids, types, folders and digests', async () => {
    const { code, out } = await umpire(['models', 'list']);
    expect(code).toBe(0);
    expect(out).toMatch(/^kev +decision +Apache-2.0 +\/.*\/models\/kev +at the start +sha256:[0-9a-f]{64}$/m);
    expect(out).toMatch(/^text-embed-mini +embedding +/m);
  });

  it('list shows aliases with what they stand for', async () => {
    const env = { UMPIRE_ALIASES: '{"jev-latest":"kev"}' };
    const { out } = await umpire(['models', 'list'], { env });
    expect(out).toMatch(/^jev-latest +decision +Apache-2.0 +alias of kev +at the start +sha256:[0-9a-f]{64}$/m);
  });

  it('verify runs the golden answers of a folder', async () => {
    const model = join(ROOT, 'models', 'text-embed-mini');
    const { code, out } = await umpire(['models', 'verify', model]);
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {2}text-embed-mini {2}sha256:[0-9a-f]{64} {2}on cpu {2}/);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('verify refuses what is no model folder', async () => {
    const { code, error } = await umpire(['models', 'verify', folder]);
    expect(code).toBe(1);
    expect(error).toBe(`umpire: model folder ${folder}: SHA256SUMS: the file is missing\n`);
  });
});

describe('umpire decide in its own process', () => {
  it('answers with bars, and leaves no data folder behind', async () => {
    const env = { UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE };
    const { code, out, error } = await umpire(['decide', ...CHOICE], { input: LETTER, env });
    expect(error).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/^Which team should handle this\?\n {2}billing +█+.* +\d+\.\d %$/m);
    expect(out).toMatch(/→ billing, confidence [01]\.\d\d/);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });
});

describe('beside a running server', () => {
  let server: ServerProcess;
  let target: Target;
  const shared = () => ({ env: { UMPIRE_DATA_DIR: server.dataDir } });
  const client = (key = target.key) => ({ env: { UMPIRE_URL: target.address, UMPIRE_API_KEY: key } });

  beforeAll(async () => {
    server = new ServerProcess();
    target = await targetOf(server);
  });

  afterAll(() => server.dispose());

  const statusWith = async (key: string): Promise<number> =>
    (await fetch(`${target.address}/ai/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;

  it('a created key works at once, is listed without its secret, and stops within seconds of its revocation', async () => {
    const args = ['keys', 'create', '--name', 'a shop', '--models', 'kev', '--expires', '30d', '--json'];
    const created = await umpire(args, shared());
    expect(created.code).toBe(0);
    const { id, key, models, created_at, expires_at } = JSON.parse(created.out);
    expect(models).toEqual(['kev']);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBeGreaterThan(29 * 86_400_000);
    expect(await statusWith(key)).toBe(200);

    const listed = await umpire(['keys', 'list'], shared());
    expect(listed.out).toMatch(new RegExp(`^${id} +${key.slice(0, 8)}… +a shop +kev +`, 'm'));
    expect(listed.out).toMatch(/^key_\w+ +ump_.{4}… +initial +all +/m);
    expect(listed.out).not.toContain(key);

    expect((await umpire(['keys', 'revoke', id], shared())).code).toBe(0);
    await until('the revoked key is refused', async () => (await statusWith(key)) !== 200);
    expect(await statusWith(key)).toBe(401);
    expect((await umpire(['keys', 'list', '--json'], shared())).out).toMatch(/"revoked_at":"\d{4}-/);
    expect((await umpire(['keys', 'revoke', 'key_unknown'], shared())).code).toBe(1);
  });

  it('decide asks it, with every type of question and names that are any text', async () => {
    writeFileSync(join(folder, 'letter.txt'), LETTER);
    const questions = ['--noul', 'Is money asked for?', '--score', 'How angry?', 'calm', 'cross', 'furious'];
    const options = ['--choice', 'Which?', '10=payments', '__proto__=bugs', 'constructor'];
    const { code, out, error } = await umpire(['decide', 'letter.txt', ...questions, ...options], client());
    expect(error).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}yes +.*%\n {2}no +.*%$/m);
    expect(out).toMatch(/→ \d\.\d\d of 2, confidence/);
    expect(out).toMatch(/^ {2}10 +/m);
    expect(out).toMatch(/^ {2}__proto__ +/m);
    expect(out).toMatch(/^\d+ input tokens$/m);
  });

  it('decide takes questions from a file and gives the reply as JSON', async () => {
    const questions = {
      team: { type: 'choice', instructions: 'Which team?', criteria: { billing: null, technical: null } },
    };
    writeFileSync(join(folder, 'questions.json'), JSON.stringify(questions));
    const args = [
      'decide',
      '--text',
      LETTER,
      '--questions',
      'questions.json',
      '--json',
      '--url',
      `${target.address}/ai/v1/`,
    ];
    const { code, out } = await umpire(args, { env: { UMPIRE_API_KEY: target.key } });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      model: 'kev',
      answers: { team: { type: 'choice' } },
      usage: { output_tokens: 0 },
    });
  });

  it("decide says what the server says, in the server's words, and exits with 1", async () => {
    const wrongKey = await umpire(['decide', ...CHOICE], { ...client('wrong'), input: LETTER });
    expect(wrongKey).toMatchObject({
      code: 1,
      out: '',
      error: 'umpire: The API key is not valid. (invalid_api_key)\n',
    });
    const noKey = await umpire(['decide', ...CHOICE, '--url', `${target.address}/v1`], { input: LETTER });
    expect(noKey.code).toBe(1);
    expect(noKey.error).toMatch(
      /^umpire: No API key\. .* \(invalid_api_key\) UMPIRE_API_KEY takes the key for it\.\n$/,
    );
    const wrongModel = await umpire(['decide', '--model', 'text-embed-mini', ...CHOICE], {
      ...client(),
      input: LETTER,
    });
    expect(wrongModel.code).toBe(1);
    expect(wrongModel.error).toContain('(model_type_mismatch)');
  });

  it('decide says when nobody answers', async () => {
    const gone = await umpire(['decide', '--url', 'http://127.0.0.1:1', ...CHOICE], { input: LETTER });
    expect(gone.code).toBe(1);
    expect(gone.error).toMatch(/^umpire: No answer from the server/);
  });
});
