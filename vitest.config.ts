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
    // Node would take tfjs's CommonJS builds, one copy each and without gradients; through Vite they are the browser's modules.
    server: { deps: { inline: [/@tensorflow\//] } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
