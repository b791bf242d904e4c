import { defineConfig } from 'vitest/config';

/** The built page in real Chromium. One file at a time: the software adapter needs the whole machine. */
export default defineConfig({
  test: {
    include: ['tests/e2e/**/*.e2e.ts'],
    pool: 'forks',
    fileParallelism: false,
    globalSetup: ['tests/e2e/globalSetup.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
