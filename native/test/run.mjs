// Builds native/test/driver.cc with sanitizers and runs it: `npm run native:test [-- <random texts>]`. Once for memory,
// undefined behaviour and leaks, once for data races. Without a compiler that has sanitizers it says so and ends well.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sourceFolder } from '../addon-file.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SANITIZERS = [
  { name: 'address, undefined behaviour, leaks', flag: '-fsanitize=address,undefined', texts: 1 },
  { name: 'threads', flag: '-fsanitize=thread', texts: 0.1 },
];
const DEFAULT_TEXTS = 20_000;

const say = (text) => process.stdout.write(`${text}\n`);

function readPackedJson(path) {
  const packed = readFileSync(join(root, path));
  const content = path.endsWith('.br') ? brotliDecompressSync(packed) : gunzipSync(packed);
  return JSON.parse(content.toString('utf8'));
}

/** Vocabulary and cases as driver.cc reads them. */
function makeInput() {
  const { model } = readPackedJson('models/kev/tokenizer.json.gz');
  const [shipped] = readPackedJson('test/native/fixtures/cases.json.br');
  const parts = [];
  const number = (value) => parts.push(Buffer.from(Int32Array.of(value).buffer));
  const text = (value) => {
    number(value.length);
    parts.push(Buffer.from(value, 'utf16le'));
  };
  text(model.continuing_subword_prefix);
  const ids = ['[UNK]', '[CLS]', '[SEP]'].map((token) => model.vocab[token]);
  for (const value of [1, 1, model.max_input_chars_per_word, ...ids]) number(value);
  const tokens = Object.entries(model.vocab);
  number(tokens.length);
  for (const [token, id] of tokens) {
    text(token);
    number(id);
  }
  number(shipped.cases.length);
  for (const { text: value, ids: own, spans = [] } of shipped.cases) {
    const wanted = own ?? spans.filter((_, place) => place % 3 === 0);
    text(value);
    number(wanted.length);
    for (const id of wanted) number(id);
  }
  return Buffer.concat(parts);
}

function findCompiler() {
  return [process.env.CXX, 'c++', 'g++', 'clang++'].find(
    (name) => name && spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  );
}

/** @returns exit code and everything that was printed */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** @returns whether all was well, or nothing could be tried */
async function check({ name, flag, texts }, { compiler, folder, input, count }) {
  const driver = join(folder, flag.replace(/\W/g, '-'));
  const sources = readdirSync(sourceFolder).filter((file) => file.endsWith('.cc') && file !== 'addon.cc');
  const files = [join(root, 'native/test/driver.cc'), ...sources.map((file) => join(sourceFolder, file))];
  const flags = ['-std=c++17', '-O1', '-g', '-Wall', '-Wextra', '-fno-sanitize-recover=all', '-pthread', flag];
  const built = await run(compiler, [...flags, ...files, '-o', driver]);
  if (built.code !== 0) {
    const isMissing = /cannot find .*(asan|ubsan|tsan)|unsupported option/.test(built.output);
    say(`${isMissing ? 'SKIPPED' : 'FAILED'} ${name}: ${built.output.slice(0, 2000)}`);
    return isMissing;
  }
  const { code, output } = await run(driver, [input, String(Math.round(count * texts))]);
  say(`${code === 0 ? 'passed' : 'FAILED'} ${name}: ${output.trim()}`);
  return code === 0;
}

const count = Number(process.argv[2] ?? DEFAULT_TEXTS);
const compiler = findCompiler();
if (compiler === undefined) {
  say('SKIPPED: no C++ compiler (c++, g++ or clang++) is installed');
} else {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-native-'));
  try {
    const input = join(folder, 'input');
    writeFileSync(input, makeInput());
    const results = await Promise.all(SANITIZERS.map((kind) => check(kind, { compiler, folder, input, count })));
    process.exitCode = results.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
