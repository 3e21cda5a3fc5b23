// Whether a file is a whole shared library for Linux on x64, and of a certain version: for builds whose sums nobody has
// pinned. It says nothing of who made it.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

const HEADER_BYTES = 64;
const CHUNK_BYTES = 1024 * 1024;
const X86_64 = 62;
const SHARED_OBJECT = 3;

/** @param version that it must name; undefined: it names none @returns in words; undefined: all is well */
export async function findLibraryFault(path: string, version: string | undefined): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    const fault = findHeaderFault(header.subarray(0, bytesRead), size);
    if (fault !== undefined) return fault;
  } finally {
    await file.close();
  }
  return version === undefined || (await contains(path, `\0${version}\0`))
    ? undefined
    : `it is not of version ${version}`;
}

/** The table of sections ends the file: where it is, everything before it is. */
function findHeaderFault(header: Buffer, size: number): string | undefined {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 4) !== '\x7fELF') return 'it is no library of Linux';
  if (header[4] !== 2 || header.readUInt16LE(18) !== X86_64 || header.readUInt16LE(16) !== SHARED_OBJECT)
    return 'it is no shared library for x64';
  const end = Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60);
  return end > size ? `it was cut off: it has ${size} bytes of at least ${end}` : undefined;
}

async function contains(path: string, text: string): Promise<boolean> {
  const wanted = Buffer.from(text, 'latin1');
  let before = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const seen = Buffer.concat([before, chunk as Buffer]);
    if (seen.includes(wanted)) return true;
    before = Buffer.from(seen.subarray(Math.max(0, seen.length - wanted.length + 1)));
  }
  return false;
}
