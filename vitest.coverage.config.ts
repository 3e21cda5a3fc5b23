import { mergeConfig } from 'vitest/config';
import tests from './vitest.config.ts';

// `npm run coverage` (test/coverage/run.ts), which adds what child processes and threads have run.
export default mergeConfig(tests, {
  test: {
    setupFiles: ['test/coverage/cover-children.ts'],
    coverage: {
      enabled: true,
      provider: 'v8',
      include: ['src/**/*.{ts,js}'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['json'],
      reportOnFailure: true,
    },
  },
});
