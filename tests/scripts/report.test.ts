import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { readGpuLog, readVitestReport } from '../../scripts/lib/report.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ratioscope-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function report(testResults: unknown[], exitCode: number) {
  const path = join(folder, 'report.json');
  writeFileSync(path, JSON.stringify({ testResults }));
  return readVitestReport(path, exitCode);
}
const file = (name: string, statuses: string[], status = 'passed') => ({
  name: join(ROOT, 'tests', name),
  status,
  message: 'SyntaxError: bad\nmore',
  assertionResults: statuses.map((s, i) => ({ status: s, fullName: `test ${i}` })),
});

describe('test report', () => {
  test('sums tests over files', () => {
    expect(report([file('a.test.ts', ['passed', 'passed']), file('b.test.ts', ['passed'])], 0)).toMatchObject({ passed: 3, failed: 0 });
  });

  test('counts failed and skipped tests, broken files and stray errors as failures', () => {
    expect(report([file('a.test.ts', ['passed', 'failed'])], 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(report([file('a.test.ts', ['passed', 'pending'])], 0)).toMatchObject({ passed: 1, failed: 1 });
    expect(report([file('a.test.ts', [], 'failed')], 1)).toMatchObject({ passed: 0, failed: 1, problems: ['tests/a.test.ts: SyntaxError: bad'] });
    expect(report([file('a.test.ts', ['passed'])], 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(report([], 0)).toMatchObject({ passed: 0, failed: 1 });
    expect(readVitestReport(join(folder, 'none.json'), 0)).toMatchObject({ passed: 0, failed: 1 });
  });

  test('reads which files had a device', () => {
    const path = join(folder, 'gpu.jsonl');
    writeFileSync(path, `${JSON.stringify({ file: join(ROOT, 'tests/kernels/a.test.ts'), adapter: 'SwiftShader' })}\n`);
    expect(readGpuLog(path)).toEqual({ adapters: new Set(['SwiftShader']), files: new Set(['tests/kernels/a.test.ts']) });
    expect(readGpuLog(join(folder, 'none'))).toEqual({ adapters: new Set(), files: new Set() });
  });
});
