// Encodes the texts of a folder (texts.json) with its tokenizer.json and writes their ids, for
// models/training/fixtures/tokenizer_kinds.py.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineTokenizer } from '../../src/runtime/tokenizer/pipeline-tokenizer.ts';

const folder = process.argv[2] ?? '.';
const readJson = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const tokenizer = new PipelineTokenizer(readJson('tokenizer.json') as object);
const texts = readJson('texts.json') as string[];
process.stdout.write(JSON.stringify(texts.map((text) => [...tokenizer.encode(text)])));
