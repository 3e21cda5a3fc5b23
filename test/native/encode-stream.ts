// Encodes batches of texts that come on standard input, with the native and the JavaScript tokenizer, and writes the ids
// and the spans to standard output. models/training/fixtures/tokenizer_fuzz.py compares them with the reference library.

import { readFileSync } from 'node:fs';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';
import { openNative } from './open-native.ts';

const [file = ''] = process.argv.slice(2);
const bytes = readFileSync(file);
const script = new BertTokenizer(JSON.parse(bytes.toString()));
const native = await openNative(bytes);

const HEADER_BYTES = 8;
let received = Buffer.alloc(0);

/** @param body per text: number of UTF-16 units, those @returns per text: ids of either, spans; a number before each */
function encodeBatch(body: Buffer, texts: number): Buffer {
  const numbers: number[] = [];
  let place = 0;
  for (let number = 0; number < texts; number++) {
    const end = place + 4 + 2 * body.readUInt32LE(place);
    const text = body.toString('utf16le', place + 4, end);
    place = end;
    const spans = native.encodeWithSpans(text).flatMap(({ id, start, end }) => [id, start, end]);
    for (const row of [native.encode(text), script.encode(text), spans]) {
      numbers.push(row.length);
      for (const value of row) numbers.push(value);
    }
  }
  return Buffer.from(Int32Array.from(numbers).buffer);
}

for await (const chunk of process.stdin) {
  received = Buffer.concat([received, chunk]);
  while (received.length >= HEADER_BYTES) {
    const [texts, size] = [received.readUInt32LE(0), received.readUInt32LE(4)];
    if (received.length < HEADER_BYTES + size) break;
    const reply = encodeBatch(received.subarray(HEADER_BYTES, HEADER_BYTES + size), texts);
    const header = Buffer.alloc(4);
    header.writeUInt32LE(reply.length);
    process.stdout.write(header);
    process.stdout.write(reply);
    received = received.subarray(HEADER_BYTES + size);
  }
}
