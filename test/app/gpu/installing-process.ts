// A process that installs CUDA's provider, for tests that kill it or take its disk away. It installs for each line on its input,
// waits for a further line before each library that it unpacks, and says in lines how far it is and how that ended.

import { readSync } from 'node:fs';
import { createGpuInstaller, type GpuSurroundings } from '../../../src/app/gpu/install-gpu.ts';

const around = JSON.parse(process.argv[2] ?? '') as GpuSurroundings;
const tell = (news: object): void => void process.stdout.write(`${JSON.stringify(news)}\n`);
const installer = createGpuInstaller(around);

/** @returns whether there was a line */
function waitForLine(): boolean {
  const [byte, newline] = [Buffer.alloc(1), 10];
  while (readSync(0, byte) === 1) if (byte[0] === newline) return true;
  return false;
}

while (waitForLine()) {
  try {
    const { outcome } = await installer.install(
      { from: undefined, index: undefined, withLibraries: false, takesUnpinned: false, isAnew: false },
      {
        signal: new AbortController().signal,
        confirm: async () => true,
        tell: (news) => {
          if (news.kind !== 'step') return;
          tell({ step: news.text });
          waitForLine();
        },
      },
    );
    tell({ outcome });
  } catch (error) {
    tell({ failure: error instanceof Error ? error.message : String(error) });
  }
}
