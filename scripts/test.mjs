// @ts-check
// npm test: everything that proves the project, from a bare machine with Node to one line "N passed, N failed".
// npm test -- --only unit,e2e runs some stages (typecheck, lint, imports, unit, build, e2e).
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { overBudget, unusedBudgets } from './lib/budgets.mjs';
import { build, entrySize, scriptSizes } from './lib/build.mjs';
import { dawnEnvironment, ensureChromium } from './lib/chromium.mjs';
import { install, missingPackages, requireNode } from './lib/install.mjs';
import { CACHE } from './lib/paths.mjs';
import { run, runModule, seconds } from './lib/process.mjs';
import { readGpuLog, readVitestReport } from './lib/report.mjs';

/** Bytes of gzip that must arrive before the page can draw; every script has a budget of its own (lib/budgets.mjs). */
const ENTRY_BUDGET = 250 * 1024;
const REPORTS = join(CACHE, 'test');
const GPU_LOG = join(REPORTS, 'gpu.jsonl');

let passed = 0;
let failed = 0;
const notes = /** @type {string[]} */ ([]);

/** @param {boolean} ok @param {string} what */
function count(ok, what) {
  if (ok) passed++;
  else {
    failed++;
    notes.push(what);
  }
}

/** @param {string} name @param {string} config */
async function vitest(name, config) {
  const file = join(REPORTS, `${name}.json`);
  const code = await runModule('vitest/vitest.mjs', ['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`], {
    env: { ...dawnEnvironment(), RATIOSCOPE_GPU_LOG: GPU_LOG },
    timeoutMs: 25 * 60_000,
  });
  const report = readVitestReport(file, code);
  passed += report.passed;
  failed += report.failed;
  notes.push(...report.problems.map((problem) => `${name}: ${problem}`));
  return report;
}

/** @type {Record<string, () => Promise<void>>} */
const STAGES = {
  async typecheck() {
    count((await runModule('typescript/bin/tsc', ['--noEmit', '-p', '.'])) === 0, 'typecheck');
  },
  async lint() {
    count((await runModule('eslint/bin/eslint.js', ['.', '--max-warnings', '0'])) === 0, 'lint');
  },
  async imports() {
    count((await run(process.execPath, ['scripts/check-imports.mjs'])) === 0, 'import rules');
  },
  async unit() {
    const report = await vitest('unit', 'vitest.config.ts');
    const gpu = readGpuLog(GPU_LOG);
    const gpuTests = report.files.filter((file) => gpu.files.has(file.name)).reduce((sum, file) => sum + file.passed, 0);
    console.log(`WebGPU adapter in Node: ${[...gpu.adapters].join('; ') || 'none'}. GPU tests that ran and passed: ${gpuTests} in ${gpu.files.size} files.`);
    count(gpu.adapters.size > 0 && gpuTests > 0, 'no GPU test ran: a missing adapter is a failure');
  },
  async build() {
    const built = (await build()) === 0;
    count(built, 'build');
    if (!built) return;
    const { files, gzip } = entrySize();
    console.log(`Before the page can draw: ${(gzip / 1024).toFixed(1)} KB gzip in ${files.length} scripts (limit ${ENTRY_BUDGET / 1024} KB).`);
    count(files.length > 0 && gzip < ENTRY_BUDGET, `entry scripts are ${(gzip / 1024).toFixed(1)} KB gzip, limit ${ENTRY_BUDGET / 1024} KB`);
    const scripts = scriptSizes();
    console.log(`Scripts, KB gzip: ${scripts.slice(0, 8).map(({ path, gzip: size }) => `${path.replace(/^assets\//, '')} ${(size / 1024).toFixed(0)}`).join(', ')}`);
    const large = overBudget(scripts);
    count(scripts.length > 0 && large.length === 0, `scripts over budget: ${large.join('; ')}`);
    const unused = unusedBudgets(scripts);
    count(unused.length === 0, `budgets for scripts that the build does not have (renamed?): ${unused.join(', ')}`);
  },
  async e2e() {
    await vitest('e2e', 'vitest.e2e.config.ts');
  },
};

requireNode();
const onlyAt = process.argv.indexOf('--only');
const chosen = onlyAt < 0 ? Object.keys(STAGES) : (process.argv[onlyAt + 1] ?? '').split(',');
const unknown = chosen.filter((name) => !(name in STAGES));
if (unknown.length > 0) {
  console.error(`--only takes ${Object.keys(STAGES).join(', ')}; not ${unknown.join(', ') || 'nothing'}.`);
  process.exit(1);
}

const began = Date.now();
if (missingPackages(['dependencies', 'devDependencies']).length > 0 && (await install({ omitDev: false })) !== 0) process.exit(1);
const chromium = await ensureChromium();
if (chromium === null) process.exit(1);
console.log(`Node ${process.versions.node}; Chromium at ${chromium}`);
rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });

const times = [];
for (const name of chosen) {
  console.log(`\n== ${name} ==`);
  const start = Date.now();
  try {
    await /** @type {() => Promise<void>} */ (STAGES[name])();
  } catch (error) {
    console.error(error);
    count(false, `${name}: ${error instanceof Error ? error.message : error}`);
  }
  times.push(`${name} ${seconds(Date.now() - start)}`);
}

const browserLog = join(REPORTS, 'browser.txt');
if (existsSync(browserLog)) console.log(`\nWebGPU adapter in Chromium: ${[...new Set(readFileSync(browserLog, 'utf8').trim().split('\n'))].join('; ')}`);
console.log(`\nTimes: ${times.join(', ')}; in all ${seconds(Date.now() - began)}.`);
for (const note of notes) console.log(`failed: ${note}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
