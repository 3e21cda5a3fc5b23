// `umpire gpu install`: what the runtime library needs to run models on an NVIDIA GPU.

import { resolve } from 'node:path';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { fetchWithReport } from './fetch-with-report.ts';
import type { GpuInstall, GpuPlan, GpuRequest } from './gpu-installer.ts';
import { tellSize } from './model-text.ts';
import type { Program } from './program.ts';
import { JSON_OPTION, renderJson, renderTable } from './table.ts';

const NEEDS_INDEX = 'needs a package index; test/app/gpu/install-gpu.test.ts has one';

export const gpuInstallCommand: Command = {
  name: 'gpu install',
  group: 'server',
  summary: 'Bring what the server needs to run models on an NVIDIA GPU',
  usage: '[--libraries] [--from …] [--yes] [--json]',
  options: {
    libraries: { type: 'boolean', help: "NVIDIA's CUDA 13 and cuDNN 9 as well: the machine needs its driver alone" },
    from: {
      type: 'string',
      help: 'A wheel, a package of NuGet, or a folder with such or with the libraries: nobody is asked',
      example: './wheels',
      values: 'file',
    },
    index: { type: 'string', help: 'Address of the package index', example: 'https://mirror.example.com/simple' },
    unpinned: { type: 'boolean', help: 'Take libraries of --from whose SHA-256 is not the known one' },
    replace: { type: 'boolean', help: 'Install it anew, though it is here' },
    yes: { type: 'boolean', help: 'Do not ask' },
    json: JSON_OPTION,
  },
  notes: `Takes the CUDA provider of exactly the runtime library's version out of PyPI's wheel, by a known SHA-256, and puts it into
the data folder (engine.gpuDir). A download that was cut goes on. A server takes it at its next start; \`umpire doctor\` says
what is still missing. PIP_INDEX_URL and the proxies of the environment count. For Linux on x64.`,
  examples: [
    { text: 'On a machine with CUDA 13 and cuDNN 9', command: 'umpire gpu install', untested: NEEDS_INDEX },
    {
      text: "On a machine with NVIDIA's driver alone, in a script",
      command: 'umpire gpu install --libraries --yes',
      untested: NEEDS_INDEX,
    },
    {
      text: 'Without a network, from what pip has downloaded elsewhere',
      command: 'umpire gpu install --libraries --from ./wheels',
      untested: NEEDS_INDEX,
    },
  ],
  json: { isList: false, members: ['outcome', 'version', 'folder', 'files', 'lacks', 'former'] },
  exits: { 1: 'The libraries could not be had, or were refused.' },
  async run(given, program) {
    refusePositionals(given);
    return await install(readGpuRequest(given), given, program);
  },
};

async function install(request: GpuRequest, given: CommandArguments, program: Program): Promise<ExitCode> {
  const isJson = given.options['json'] === true;
  const isSure = given.options['yes'] === true;
  const installer = await program.openGpuInstaller(given.settings);
  return await fetchWithReport(program, { isJson }, async (watch) => {
    const installed = await installer.install(request, {
      ...watch,
      confirm: async (plan) => {
        if (!isJson) program.writeOut(renderGpuPlan(plan));
        return isSure || (await isConfirmed(program, isJson));
      },
    });
    return isJson ? renderJson(installed) : renderInstall(installed);
  });
}

/** @throws UsageError */
function readGpuRequest({ options }: CommandArguments): GpuRequest {
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [from, index] = [text('from'), text('index')];
  if (from !== undefined && index !== undefined)
    throw new UsageError('With --from nobody is asked: leave out --index.');
  const takesUnpinned = options['unpinned'] === true;
  if (takesUnpinned && from === undefined) throw new UsageError('--unpinned is for what --from gives.');
  return {
    from: from === undefined ? undefined : resolve(from),
    index,
    withLibraries: options['libraries'] === true,
    takesUnpinned,
    isAnew: options['replace'] === true,
  };
}

async function isConfirmed(program: Program, isJson: boolean): Promise<boolean> {
  if (!program.isTerminal || isJson) throw new UsageError('Add --yes: nobody can be asked here.');
  program.writeOut('Go on, under these licences? Type yes: ');
  return /^y(es)?$/i.test((await program.readLine()).trim());
}

function renderGpuPlan({ version, folder, source, packages, bytes }: GpuPlan): string {
  const facts = [
    ['for', `version ${version} of the runtime library`],
    ['from', source],
    ['into', folder],
    ['size', `${tellSize(packages.reduce((sum, each) => sum + each.bytes, 0))} packed, ${tellSize(bytes)} installed`],
  ];
  const rows = packages.map(({ name, bytes: packed, licence }) => [name, tellSize(packed), licence]);
  return `${renderTable(facts)}\n${renderTable([['PACKAGE', 'SIZE', 'LICENCE'], ...rows], new Set([1]))}\n`;
}

function renderInstall({ outcome, folder, files, lacks, former }: GpuInstall): string {
  if (outcome === 'declined') return 'Nothing was installed.\n';
  const done = outcome === 'present' ? `It is here already: ${folder}. Nothing was fetched.` : `Installed: ${folder}`;
  const rows = files.map(({ name, bytes }) => [name, tellSize(bytes)]);
  const missing = lacks.map((lack) => `CUDA cannot be used yet: ${lack}.\n`).join('');
  const next = missing || 'A server takes it at its next start (engine.device).\n';
  const left = former.map(
    ({ folder: other, bytes }) =>
      `Of another version, for servers that still run it or go back to it: ${other}. Deleting it gives back ${tellSize(bytes)}.\n`,
  );
  return `${outcome === 'present' ? '' : renderTable(rows, new Set([1]))}${done}\n${next}${left.join('')}`;
}
