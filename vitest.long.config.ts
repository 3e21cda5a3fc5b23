import { defineConfig } from 'vitest/config';

// Heavy, seeded proofs: minutes to hours, one file at a time, never part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: 'test/log-scan/global-setup.ts',
    setupFiles: ['test/keep-wrappers.ts', 'test/log-scan/test-logs.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
