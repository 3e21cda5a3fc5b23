import { defineConfig } from 'vitest/config';

// `npm run test:gpu`: what only a GPU can show. Skipped aloud where there is none.
export default defineConfig({
  test: {
    include: ['test/gpu/**/*.test.ts'],
    globalSetup: 'test/log-scan/global-setup.ts',
    setupFiles: ['test/keep-wrappers.ts', 'test/log-scan/test-logs.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
