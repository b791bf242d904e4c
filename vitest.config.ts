import { defineConfig } from 'vitest/config';
import { dawnEnvironment } from './scripts/lib/chromium.mjs';

/** Everything that needs no browser: mathematics, tasks, trainer, and the kernels on a real WebGPU device (Dawn). */
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    exclude: ['tests/e2e/**', 'tests/browser/**'],
    // Dawn's variables must stand before its process starts, which threads do not give.
    pool: 'forks',
    env: dawnEnvironment(),
    setupFiles: ['tests/helpers/recordGpu.ts'],
    testTimeout: 120_000,
  },
});
