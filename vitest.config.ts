import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/log-scan/global-setup.ts',
    setupFiles: ['test/keep-wrappers.ts', 'test/log-scan/test-logs.ts'],
    exclude: ['test/long/**', 'test/gpu/**', '**/node_modules/**'],
    // For a machine that has much else to do; what hangs is told all the same.
    testTimeout: 300_000,
    hookTimeout: 480_000,
    // Two cores is the smallest supported machine; tests that start a server use both.
    maxWorkers: 2,
  },
});
