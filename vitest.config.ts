import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    exclude: ['tests/e2e/**', 'tests/browser/**'],
    // Threads do not inherit these variables, and Dawn then finds no adapter.
    pool: 'forks',
    env: { VK_ICD_FILENAMES: '/usr/lib/chromium/vk_swiftshader_icd.json', XDG_RUNTIME_DIR: '/tmp' },
    testTimeout: 120_000,
  },
});
