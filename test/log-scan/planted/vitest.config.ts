import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// A run that leaves planted leaks, for log-scan.test.ts: it must fail though each of its tests passes.
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..', '..'),
    include: [`test/log-scan/planted/${process.env['PLANTED'] ?? 'nothing'}.planted.ts`],
    globalSetup: 'test/log-scan/global-setup.ts',
    setupFiles: 'test/log-scan/test-logs.ts',
  },
});
