// The image as an engine of containers runs it, podman: by itself as deploy/compose.yaml asks for it, and as the pod that
// the chart describes. Needs root, podman with runc, buildah and mmdebstrap (Debian has them), npm's and Debian's registries.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { findImageHindrance, ImageStore } from '../deploy/image-store.ts';
import { Podman } from '../deploy/podman.ts';
import { run } from '../deploy/run.ts';
import { HELM, installTools } from '../deploy/tools.ts';
import { decide, PATIENT, type Target } from '../process/decisions.ts';
import { until } from '../waiting/until.ts';

const KEY = 'a-fixed-key-for-this-test';
const IMAGE = 'localhost/umpire';
/** As deploy/compose.yaml has it. */
const GUARDED = ['--read-only', '--tmpfs=/tmp', '--cap-drop=all', '--security-opt=no-new-privileges', '--memory=2g'];
const BUILD_MS = 1_800_000;
const STOP = ['stop', '--time', '45'];

const hindrance = findImageHindrance('podman', 'runc');
if (hindrance !== undefined) process.stderr.write(`No container is run: ${hindrance}.\n`);

describe.skipIf(hindrance !== undefined)('podman', () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-podman-'));
  let store: ImageStore;
  let podman: Podman;

  beforeAll(() => {
    installTools();
    store = new ImageStore();
    store.layBases();
    store.buildImage(IMAGE);
    podman = new Podman(store);
  }, BUILD_MS);

  afterAll(() => {
    podman.remove();
    store.remove();
    rmSync(folder, { recursive: true });
  });

  const stateOf = (name: string) => podman.run('inspect', '--format', '{{.State.Status}} {{.State.ExitCode}}', name);
  const isHealthy = (name: string): boolean => podman.try('healthcheck', 'run', name).status === 0;

  describe('runs the image', () => {
    const start = (name: string, ...words: string[]): string =>
      podman.run('run', '--detach', `--name=${name}`, ...GUARDED, '--publish=127.0.0.1::8080', ...words, IMAGE);
    const addressOf = (name: string): string => `http://${podman.run('port', name, '8080').split('\n')[0]}`;
    const patient = Object.entries(PATIENT).map(([setting, value]) => `--env=${setting}=${value}`);
    let target: Target;

    beforeAll(async () => {
      start('own', '--volume=umpire-data:/data', '--cpus=1', ...patient);
      await until('its health check passes', () => isHealthy('own'), { withinMs: 300_000, pauseMs: 500 });
      target = { address: addressOf('own'), key: podman.run('exec', 'own', 'cat', '/data/initial-key') };
    });

    it('as its user, without rights, and with nothing to write but /data and /tmp', async () => {
      expect((await decide(target, 50)).status).toBe(200);
      expect(podman.run('exec', 'own', 'id', '-u')).toBe('1000');
      const status = podman.run('exec', 'own', 'cat', '/proc/1/status');
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(status).toMatch(/^Seccomp:\s+2$/m);
      for (const place of ['/app', '/etc', '/home/node'])
        expect(podman.try('exec', 'own', 'touch', `${place}/file`).printed).toContain('Read-only file system');
    });

    it('with as many workers as the container has cores, and a data folder that is its own', () => {
      const log = podman.run('logs', 'own');
      expect(log).toContain('cpu, 1 worker × 1 thread');
      expect(log).not.toContain('may look into the data folder');
      expect(podman.run('exec', 'own', 'stat', '-c', '%a', '/data')).toBe('700');
    });

    it('until what it has is finished, and with its keys and rows when it starts again', async () => {
      const replies = [300, 301, 302].map((words) => decide(target, words));
      const inFlight = async () =>
        /^umpire_http_requests_in_flight 4$/m.test(await (await fetch(`${target.address}/metrics`)).text());
      await until('it has three requests in hand', inFlight);
      podman.run(...STOP, 'own');
      expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(stateOf('own')).toBe('exited 0');
      podman.run('start', 'own');
      await until('it is healthy again', () => isHealthy('own'), { withinMs: 300_000, pauseMs: 500 });
      target = { address: addressOf('own'), key: target.key };
      const headers = { authorization: `Bearer ${target.key}` };
      const usage = await (await fetch(`${target.address}/ai/v1/usage`, { headers })).json();
      expect(usage).toMatchObject({ totals: { requests: 4 } });
    });

    it.each([
      ['UMPIRE_PORT=http', /UMPIRE_PORT/],
      ['UMPIRE_ENGINE_DEVICE=cuda', /CUDA/],
      ['UMPIRE_DATABASE_URL=mysql://a:hidden@b/c', /UMPIRE_DATABASE_URL/],
    ])('and it ends with what is wrong with %s', async (setting, says) => {
      start('wrong', `--env=${setting}`);
      await until('it has ended', () => stateOf('wrong').startsWith('exited'), { pauseMs: 200 });
      expect(stateOf('wrong')).toBe('exited 1');
      const log = podman.run('logs', 'wrong');
      expect(log).toMatch(says);
      expect(log).not.toContain('hidden');
      podman.run('rm', 'wrong');
    });
  });

  it('plays the chart: one server with its store in a volume', async () => {
    const file = join(folder, 'chart.yaml');
    const secret = join(folder, 'secret.json');
    const { isClean, out, words } = run(HELM, ['template', 'umpire', 'deploy/helm/umpire', ...VALUES]);
    expect(isClean, words).toBe(true);
    const { text, secrets } = forPodman(out);
    writeFileSync(file, text);
    writeFileSync(secret, JSON.stringify(secrets));
    podman.run('secret', 'create', 'umpire', secret);
    podman.run('kube', 'play', file);
    const inPod = (script: string) => podman.try('exec', 'umpire-pod-0-umpire', 'node', '-e', script);
    const asks = (path: string) =>
      inPod(`fetch('http://127.0.0.1:8080${path}', {
      headers: {authorization: 'Bearer ${KEY}'}}).then(async (r) => { console.log(r.status, await r.text()); })`)
        .printed;
    await until('it is ready', () => asks('/readyz').startsWith('200'), { withinMs: 300_000, pauseMs: 500 });
    expect(JSON.parse(asks('/ai/v1/models').slice('200 '.length))).toMatchObject({ data: [{ id: 'kev' }] });
    const status = podman.run('exec', 'umpire-pod-0-umpire', 'cat', '/proc/1/status');
    expect(status).toMatch(/^Uid:\s+1000\s/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(podman.try('exec', 'umpire-pod-0-umpire', 'touch', '/app/file').printed).toContain('Read-only file system');
    expect(podman.run('exec', 'umpire-pod-0-umpire', 'ls', '/data')).toContain('umpire.sqlite');
    expect(podman.run('logs', 'umpire-pod-0-umpire')).toContain('cpu, 1 worker × 1 thread');
    podman.run('kube', 'down', file);
  });
});

/** As a user of one machine sets them. */
const VALUES = [
  ...['--set', `image.repository=${IMAGE},image.tag=latest,image.pullPolicy=Never`],
  ...['--set', `persistence.enabled=true,apiKey.value=${KEY},config.models={kev},config.log.level=info`],
  ...['--set', 'resources.limits.cpu=1,resources.limits.memory=1Gi'],
];

const deployment = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({ spec: z.looseObject({ containers: z.tuple([z.looseObject({})]) }) }),
  }),
});

/**
 * What podman takes of a chart. It makes no Secret that it then reads, knows ports by number alone, would publish those of
 * a container to everybody, and has neither services that a pod of `helm test` could ask nor policies.
 */
function forPodman(rendered: string): { readonly text: string; readonly secrets: Record<string, string> } {
  const manifests = parseAllDocuments(rendered).map((document) => document.toJS());
  const secret = manifests.find(({ kind }) => kind === 'Secret');
  const secrets = Object.entries(secret.stringData as Record<string, string>).map(([name, value]) => [
    name,
    Buffer.from(value).toString('base64'),
  ]);
  const kept = manifests.filter(({ kind }) => ['ConfigMap', 'PersistentVolumeClaim', 'Deployment'].includes(kind));
  for (const one of kept.filter(({ kind }) => kind === 'Deployment')) {
    const [container] = deployment.parse(one).spec.template.spec.containers;
    delete one.spec.template.spec.containers[0].ports;
    expect(container).toHaveProperty('ports');
  }
  const text = kept
    .map((one) => stringify(one))
    .join('---\n')
    .replaceAll('port: http', 'port: 8080');
  return { text, secrets: Object.fromEntries(secrets) };
}
