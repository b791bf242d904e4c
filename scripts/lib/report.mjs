// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { ROOT } from './paths.mjs';

/**
 * Counts of vitest's JSON report. A file that broke before its tests, a skipped test, an unhandled error and a missing
 * report are failures: nothing that did not run may look like success.
 * @param {string} path
 * @param {number} exitCode vitest's
 * @returns {{ passed: number, failed: number, problems: string[], files: { name: string, passed: number }[] }}
 */
export function readVitestReport(path, exitCode) {
  if (!existsSync(path)) return { passed: 0, failed: 1, problems: [exitCode === 124 ? 'ran past its time limit' : 'vitest left no report'], files: [] };
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const problems = /** @type {string[]} */ ([]);
  let passed = 0;
  const files = report.testResults.map((/** @type {any} */ file) => {
    const name = relative(ROOT, file.name).split(sep).join('/');
    const good = file.assertionResults.filter((/** @type {any} */ test) => test.status === 'passed').length;
    for (const test of file.assertionResults) if (test.status !== 'passed') problems.push(`${name}: ${test.fullName} (${test.status})`);
    if (file.status !== 'passed' && file.assertionResults.length === 0) problems.push(`${name}: ${String(file.message).split('\n')[0]}`);
    passed += good;
    return { name, passed: good };
  });
  if (exitCode !== 0 && problems.length === 0) problems.push(`vitest ended with exit code ${exitCode}: an error outside of any test`);
  if (files.length === 0 && problems.length === 0) problems.push('no test file was found');
  return { passed, failed: problems.length, problems, files };
}

/**
 * What tests/helpers/recordGpu.ts noted: one JSON line per device that a test file requested.
 * @param {string} path
 * @returns {{ adapters: Set<string>, files: Set<string> }} files relative to the root, with forward slashes
 */
export function readGpuLog(path) {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [];
  return {
    adapters: new Set(lines.map((line) => line.adapter)),
    files: new Set(lines.map((line) => relative(ROOT, line.file).split(sep).join('/'))),
  };
}
