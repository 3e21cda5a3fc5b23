// The units of systemd on a machine that has booted: deploy/umpire.service by itself, then three servers behind nginx on
// PostgreSQL, set up by the very commands of docs/guides/cluster.md and restarted by its script.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findImageHindrance } from '../deploy/image-store.ts';
import { MACHINE_TOOLS, Machine } from '../deploy/machine.ts';
import { ROOT } from '../deploy/run.ts';

const hindrance = findImageHindrance(...MACHINE_TOOLS);
if (hindrance !== undefined) process.stderr.write(`No machine is booted: ${hindrance}.\n`);

const KEY = 'a-fixed-key-for-this-test';
const BUILD_MS = 1_800_000;
const PORTS = [8081, 8082, 8083];

/** The first commands of that section. */
function blockOf(section: string): string {
  const page = readFileSync(join(ROOT, 'docs/guides/cluster.md'), 'utf8');
  return /^```text\n([\s\S]*?)^```$/m.exec(page.slice(page.indexOf(`## ${section}`)))?.[1] ?? '';
}

/** Prints the status of one request to a port of the machine. */
const embed = (port: number, input: string): string =>
  `curl -s -o /dev/null -w '%{http_code}\\n' -H 'Authorization: Bearer ${KEY}' -H 'Content-Type: application/json' \
    -d '{"model": "text-embed-mini", "input": "${input}"}' http://127.0.0.1:${port}/ai/v1/embeddings`;
const ready = (port: number): string => `curl --fail -s -o /dev/null http://127.0.0.1:${port}/readyz`;

describe.skipIf(hindrance !== undefined)('a machine with systemd', () => {
  let machine: Machine;

  beforeAll(async () => {
    machine = await Machine.boot();
    machine.demand('useradd --system --no-create-home umpire && install -d -m 755 /etc/umpire');
  }, BUILD_MS);

  afterAll(() => machine.remove());

  const show = (unit: string, property: string): string =>
    machine.demand(`systemctl show --property=${property} --value ${unit}`);
  const logOf = (unit: string): string => machine.demand(`journalctl --no-pager --output=cat --unit=${unit}`);

  describe('and umpire.service', () => {
    const settings = (text: string): string =>
      `install -m 644 /dev/stdin /etc/umpire/umpire.yaml <<'END'\n${text}\nEND`;

    beforeAll(async () => {
      machine.demand(`${settings('log: {level: info}')}
        install -m 600 /dev/stdin /etc/umpire/umpire.env <<'END'
UMPIRE_API_KEY=${KEY}
UMPIRE_CONFIG=/etc/umpire/umpire.yaml
END
        cp /opt/umpire/deploy/umpire.service /etc/systemd/system/
        systemctl daemon-reload && systemctl enable --now umpire`);
      await machine.untilTyped('umpire.service is ready', ready(8080));
    });

    it('serves as its own user, without any right and on a file system that it cannot write', () => {
      expect(machine.demand(embed(8080, 'hello'))).toBe('200');
      const status = machine.demand(`cat /proc/${show('umpire', 'MainPID')}/status`);
      const uid = machine.demand('id -u umpire');
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'));
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      const inside = (command: string) =>
        machine.type(`nsenter --target ${show('umpire', 'MainPID')} --mount ${command}`);
      for (const folder of ['/opt/umpire', '/etc', '/usr', '/var/log']) {
        expect(inside(`touch ${folder}/file`).printed).toContain('Read-only file system');
      }
      expect(inside('touch /var/lib/umpire/file').status).toBe(0);
      expect(machine.demand('stat -c %a:%U /var/lib/umpire')).toBe('700:umpire');
      expect(inside('ls -A /root').printed).toBe('');
    });

    it('takes over by a reload what has changed, and nothing that is wrong', async () => {
      const pid = show('umpire', 'MainPID');
      machine.demand(`${settings('http: {cors: [https://app.example.com]}')}\nsystemctl reload umpire`);
      const preflight = `curl -s -D - -o /dev/null -X OPTIONS -H 'Origin: https://app.example.com' \
        -H 'Access-Control-Request-Method: POST' http://127.0.0.1:8080/ai/v1/embeddings | grep -qi 'access-control-allow-origin: https://app.example.com'`;
      await machine.untilTyped('the origin is allowed', preflight);
      machine.demand(`${settings('http: {cors: 7}')}\nsystemctl reload umpire`);
      await machine.untilTyped('the fault is in the journal', `journalctl --unit=umpire | grep -q 'not reloaded'`);
      machine.demand(preflight);
      expect(show('umpire', 'MainPID')).toBe(pid);
      machine.demand(settings('log: {level: info}'));
    });

    it('finishes what it has when it is stopped, and has its data when it starts again', async () => {
      const words = Array.from({ length: 1500 }, (_, place) => `word${place}`).join(' ');
      const body = JSON.stringify({
        model: 'kev',
        state: words,
        questions: { q: { type: 'noul', instructions: 'Is it long?' } },
      });
      machine.demand(`cat > /tmp/body.json <<'END'\n${body}\nEND
        (curl -s -o /tmp/answer.json -w '%{http_code}' -H 'Authorization: Bearer ${KEY}' -H 'Content-Type: application/json' \
          -d @/tmp/body.json http://127.0.0.1:8080/ai/v1/systemone > /tmp/status) > /dev/null 2>&1 &`);
      const busy = `curl -s http://127.0.0.1:8080/metrics | grep -qE '^umpire_engine_busy_workers [1-9]'`;
      await machine.untilTyped('it works', busy);
      machine.demand('systemctl stop umpire');
      expect(machine.demand('cat /tmp/status')).toBe('200');
      expect(show('umpire', 'Result')).toBe('success');
      expect(show('umpire', 'ExecMainStatus')).toBe('0');
      machine.demand('systemctl start umpire');
      await machine.untilTyped('it is ready again', ready(8080));
      const usage = `curl -s -H 'Authorization: Bearer ${KEY}' 'http://127.0.0.1:8080/admin/v1/usage?group_by=model'`;
      expect(machine.demand(usage)).toContain('"kev"');
    });

    it('is started again when it dies', async () => {
      const pid = show('umpire', 'MainPID');
      machine.demand(`kill -SEGV ${pid}`);
      await machine.untilTyped(
        'another is ready',
        `[ "$(systemctl show -p MainPID --value umpire)" != ${pid} ] && ${ready(8080)}`,
      );
      expect(Number(show('umpire', 'NRestarts'))).toBe(1);
    });

    it('ends at once with what is wrong with its settings, and is not started again', async () => {
      machine.demand(`${settings('engine: {workers: many}')}\nsystemctl restart umpire`);
      await machine.untilTyped('it failed', 'systemctl is-failed umpire');
      machine.demand(`journalctl --unit=umpire | grep -q 'engine.workers'`);
      expect([show('umpire', 'ExecMainStatus'), show('umpire', 'NRestarts')]).toEqual(['78', '0']);
    });

    it('could not run without memory that is written and run: V8 compiles', async () => {
      machine.demand(`${settings('log: {level: info}')}
        mkdir -p /run/systemd/system/umpire.service.d
        printf '[Service]\\nMemoryDenyWriteExecute=true\\nRestart=no\\n' > /run/systemd/system/umpire.service.d/try.conf
        systemctl daemon-reload && systemctl reset-failed umpire; systemctl start umpire`);
      await machine.untilTyped('it failed', 'systemctl is-failed umpire');
      machine.demand(
        'rm -r /run/systemd/system/umpire.service.d && systemctl daemon-reload && systemctl disable umpire',
      );
      machine.demand('systemctl reset-failed umpire');
    });
  });

  describe('and three servers as the guide sets them up', () => {
    beforeAll(async () => {
      machine.demand(`systemctl start postgresql
        runuser -u postgres -- psql -qc "CREATE ROLE umpire LOGIN PASSWORD 'secret-of-this-test'" -c 'CREATE DATABASE umpire OWNER umpire'
        systemctl is-active nginx`);
      const commands = blockOf('Set it up');
      expect(commands).toContain('umpire@8081');
      // There is that user already.
      machine.demand(
        commands
          .replace(/^useradd .*$/m, '')
          .replace('umpire:…@', 'umpire:secret-of-this-test@')
          .replace('UMPIRE_ENGINE_WORKERS=2', `UMPIRE_ENGINE_WORKERS=1\nUMPIRE_API_KEY=${KEY}`),
      );
      for (const port of PORTS) await machine.untilTyped(`${port} is ready`, ready(port));
    });

    it('serve through nginx, each with a folder of its own that is closed to others', () => {
      expect(machine.demand(embed(8080, 'hello'))).toBe('200');
      for (const port of PORTS) expect(machine.demand(`stat -c %a:%U /var/lib/umpire/${port}`)).toBe('700:umpire');
      expect(machine.demand('curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:8080/metrics')).toBe('403');
    });

    it('are restarted one after the other by the script, and no request is refused', () => {
      const pids = PORTS.map((port) => show(`umpire@${port}`, 'MainPID'));
      machine.demand(`rm -f /tmp/codes /tmp/enough
        (while ! [ -e /tmp/enough ]; do ${embed(8080, 'again')} >> /tmp/codes; done; touch /tmp/over) > /dev/null 2>&1 &`);
      const printed = machine.demand(blockOf('Restart them'));
      machine.demand('touch /tmp/enough');
      expect(printed.match(/is back$/gm)).toHaveLength(PORTS.length);
      machine.demand('while ! [ -e /tmp/over ]; do sleep 0.1; done');
      const codes = machine.demand('cat /tmp/codes').split('\n');
      process.stdout.write(`${codes.length} requests while three units were restarted\n`);
      expect(codes.length).toBeGreaterThan(10);
      expect(new Set(codes)).toEqual(new Set(['200']));
      expect(PORTS.filter((port, place) => show(`umpire@${port}`, 'MainPID') === pids[place])).toEqual([]);
      for (const port of PORTS) expect(logOf(`umpire@${port}`)).not.toContain('secret-of-this-test');
    });
  });
});
