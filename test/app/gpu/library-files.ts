// Libraries and wheels as tests of `umpire gpu install` need them: small, whole, and of no code.

import { createHash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import type { PinnedPackage } from '../../../src/app/gpu/pinned-package.ts';
import { filled } from '../../hub/model-tree.ts';

const HEADER_BYTES = 64;
const SECTION_BYTES = 64;

/** A shared library for x64, as far as its head tells, that names a version. */
export function libraryOf(version: string, seed: number, bytes = 200_000): Buffer {
  const library = Buffer.concat([Buffer.alloc(HEADER_BYTES), filled(bytes, seed), Buffer.alloc(SECTION_BYTES)]);
  library.write('\x7fELF\x02', 0, 'latin1');
  library.writeUInt16LE(3, 16);
  library.writeUInt16LE(62, 18);
  library.writeBigUInt64LE(BigInt(library.length - SECTION_BYTES), 40);
  library.writeUInt16LE(SECTION_BYTES, 58);
  library.writeUInt16LE(1, 60);
  library.write(`\0${version}\0`, 1000, 'latin1');
  return library;
}

/** A zip file; every second member is stored as it is. @param files by path */
export function zipOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [place, [path, content]] of Object.entries(files).entries()) {
    const isStored = place % 2 === 1;
    const body = isStored ? content : deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(isStored ? 0 : 8, 4);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(body.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(path), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(path), body]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, tail, Buffer.from(path)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

function sumOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** @param libraries by name, in the order in which they are loaded */
export function pinOf(
  name: string,
  file: string,
  wheel: Buffer,
  libraries: Readonly<Record<string, Buffer>>,
): PinnedPackage {
  const members = Object.entries(libraries).map(([each, bytes]) => ({
    name: each,
    bytes: bytes.length,
    sha256: sumOf(bytes),
  }));
  return { package: name, file, bytes: wheel.length, sha256: sumOf(wheel), licence: 'MIT', members };
}
