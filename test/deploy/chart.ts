// The chart, rendered by Helm with the values of its users: is what comes out what Kubernetes, the Prometheus operator and
// the server take, and does it hang together? And what of wrong values?

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { ROOT, run } from './run.ts';
import { HELM, KUBERNETES_VALIDATE, SERVICE_MONITOR } from './tools.ts';

const CHART = 'deploy/helm/umpire';
/** The oldest that the chart says it takes, and the newest whose schemas there are. */
const KUBERNETES = ['1.25.0', '1.37.0'];

/** The chart's own values, then those of each file of examples. */
export const EXAMPLES: readonly (string | undefined)[] = [
  undefined,
  ...readdirSync(join(ROOT, CHART, 'ci')).map((name) => `${CHART}/ci/${name}`),
];

const named = z.object({ name: z.string() });
const container = z.looseObject({
  name: z.string(),
  env: z.array(z.looseObject({ name: z.string() })).default([]),
  ports: z.array(named).default([]),
  volumeMounts: z.array(named).default([]),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
const podSpec = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.int().min(1) }),
  containers: z.array(container),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
});
type Manifest = z.infer<typeof manifest>;

function render(values: string | undefined): string {
  const { isClean, out, words } = run(HELM, [
    ...['template', 'release', CHART, '--kube-version', '1.37.0'],
    ...(values === undefined ? [] : ['--values', values]),
  ]);
  if (!isClean) throw new Error(words);
  return out;
}

/** @returns sentences; empty: the chart is right with these values */
export async function faultsOfChart(values: string | undefined): Promise<string[]> {
  const lint = run(HELM, ['lint', '--strict', CHART, ...(values === undefined ? [] : ['--values', values])]);
  const text = render(values);
  const manifests = parseAllDocuments(text).map((document) => manifest.parse(document.toJS()));
  return [
    ...(lint.isClean ? [] : [lint.words]),
    ...faultsBySchema(text),
    ...(await faultsOfMonitors(manifests)),
    ...faultsOfReferences(manifests),
    ...faultsOfPods(manifests),
    ...faultsOfConfig(manifests),
  ];
}

function faultsBySchema(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-chart-'));
  try {
    // What Kubernetes itself knows.
    const own = parseAllDocuments(text).filter((one) => !String(one.get('apiVersion')).includes('coreos'));
    const files = own.map((one, place) => {
      const file = join(folder, `${place}.yaml`);
      writeFileSync(file, one.toString());
      return file;
    });
    return KUBERNETES.flatMap((version) => {
      const { isClean, words } = run(KUBERNETES_VALIDATE, ['--strict', '-k', version, ...files]);
      return isClean ? [] : [`Kubernetes ${version}: ${words}`];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function faultsOfMonitors(manifests: readonly Manifest[]): Promise<string[]> {
  const { ServiceMonitor } = await import(pathToFileURL(SERVICE_MONITOR).href);
  return manifests
    .filter(({ kind }) => kind === 'ServiceMonitor')
    .flatMap((one) => {
      try {
        new ServiceMonitor(one).validate();
        return [];
      } catch (error) {
        return [String(error)];
      }
    });
}

const REFERENCE = z.union([
  z.object({ configMap: named }).transform(({ configMap: { name } }) => ['ConfigMap', name] as const),
  z
    .object({ persistentVolumeClaim: z.object({ claimName: z.string() }) })
    .transform(({ persistentVolumeClaim: { claimName } }) => ['PersistentVolumeClaim', claimName] as const),
  z
    .object({ scaleTargetRef: z.object({ kind: z.string(), name: z.string() }) })
    .transform(({ scaleTargetRef: { kind, name } }) => [kind, name] as const),
]);

/** What one manifest says of another by name, when the chart makes that other. */
function faultsOfReferences(manifests: readonly Manifest[]): string[] {
  const made = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const wanted: string[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const found = REFERENCE.safeParse(value);
    if (found.success) wanted.push(found.data.join(' '));
    for (const child of Object.values(value)) look(child);
  };
  for (const one of manifests) look(one);
  return wanted.filter((name) => !made.has(name)).map((name) => `${name} is named and not made`);
}

function faultsOfPods(manifests: readonly Manifest[]): string[] {
  const specs = manifests.flatMap((one) => {
    if (one.kind === 'Pod') return [one['spec']];
    return one.kind === 'Deployment'
      ? [z.object({ template: z.object({ spec: z.unknown() }) }).parse(one['spec']).template.spec]
      : [];
  });
  return specs.flatMap((spec) => {
    const { error, data } = podSpec.safeParse(spec);
    if (error !== undefined) return [z.prettifyError(error)];
    const volumes = new Set(data.volumes.map(({ name }) => name));
    return data.containers.flatMap(({ volumeMounts, env }) => [
      ...volumeMounts.filter(({ name }) => !volumes.has(name)).map(({ name }) => `no volume ${name}`),
      ...env
        .filter(({ name }, place) => env.findIndex((one) => one.name === name) !== place)
        .map(({ name }) => `${name} twice`),
    ]);
  });
}

/** The server itself reads what the chart hands it. */
function faultsOfConfig(manifests: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-chart-'));
  try {
    return manifests.flatMap(({ kind, data }) => {
      const text = data?.['umpire.yaml'];
      if (kind !== 'ConfigMap' || text === undefined) return [];
      const file = join(folder, 'umpire.yaml');
      writeFileSync(file, text);
      // A secret of the user's, which this check has not.
      const secrets = Object.fromEntries(
        [...text.matchAll(/apiKeyEnv: (\w+)/g)].map(([, name = '']) => [name, 'a-key-of-an-upstream']),
      );
      const command = ['src/launch.js', 'serve', '--print-config', '--config', file];
      const { isClean, words } = run(process.execPath, command, secrets);
      return isClean ? [] : [words];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Values that nobody should get past Helm, and what it says of them. A secret is never repeated. */
const WRONG: readonly (readonly [setting: string, says: RegExp])[] = [
  ['replicas=two', /'\/replicas': got string, want integer/],
  ['autoscaling.enabled=maybe', /'\/autoscaling\/enabled': got string, want boolean/],
  ['autoscaling.queuedSeconds=soon', /'\/autoscaling\/queuedSeconds': got string, want number/],
  ['resources.limits.memory=lots', /'\/resources\/limits\/memory': 'lots' does not match/],
  ['service.port=99999', /'\/service\/port': maximum/],
  ['service.type=Cluster', /'\/service\/type': value must be one of/],
  ['podDisruptionBudget.maxUnavailable=most', /'\/podDisruptionBudget\/maxUnavailable'/],
  ['env[0].name=A,env[0].value=1', /'\/env\/0\/value': got number, want string/],
  ['replica=2', /additional properties 'replica' not allowed/],
  ['replicas=2', /several pods need one database/],
  ['autoscaling.enabled=true', /several pods need one database/],
  ['replicas=2,database.existingSecret=a,persistence.enabled=true', /cannot share a volume/],
  ['database.existingSecret=a,database.url=postgres://a', /exclude each other/],
  ['database.existingSecret=a,autoscaling.enabled=true,autoscaling.minReplicas=9', /minReplicas is above/],
  ['ingress.enabled=true', /needs ingress\.host/],
  ['config.port=9000', /config\.port is not for the configuration file/],
  ['database.url=mysql://a:hidden@b/c', /does not begin with postgres:\/\//],
  ['apiKey.value=hidden', /apiKey\.value is not 16 to 200/],
];

/** @returns sentences; empty: each wrong value is refused in the words for it */
export function faultsOfWrongValues(): string[] {
  return WRONG.flatMap(([setting, says]) => {
    const { isClean, words } = run(HELM, ['template', 'release', CHART, '--set', setting]);
    if (isClean) return [`${setting} is taken`];
    if (!says.test(words)) return [`${setting} is refused by: ${words}`];
    return words.includes('hidden') ? [`${setting} shows a secret`] : [];
  });
}
