import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import golden from '../fixtures/objectives.json';
import { ROOT } from '../../scripts/lib/paths.mjs';

/** `eval --objective-file` as a person runs it. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratioscope-file-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'cli/run.mjs'), 'eval', ...args], { cwd: folder });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const A = golden.fixture;
const GRPO = `title "Typed GRPO"\r
level token
param clipLow = 0.2 in 0..1;
param clipHigh = 0.2 in 0..1;
let surrogate = min(ratio * adv, clip(ratio, 1 - clipLow, 1 + clipHigh) * adv);
-surrogate
`;

describe('eval --objective-file', () => {
  it('gives what the built-in gives, takes --set for its parameters, and names the place of a mistake', async () => {
    const input = file('batch.json', JSON.stringify({ oldLogp: A.old, newLogp: A.new, mask: A.mask, segments: A.seg, advantages: A.adv }));
    const typed = file('typed.txt', GRPO);
    for (const set of [[], ['--set', 'clipHigh=0.05']]) {
      const [own, builtIn] = await Promise.all([run(['--objective-file', typed, '--input', input, ...set]), run(['--objective', 'grpo', '--input', input, ...set])]);
      expect([own.code, own.stderr, builtIn.code]).toEqual([0, '', 0]);
      const [a, b] = [own.stdout, builtIn.stdout].map((text) => JSON.parse(text) as Record<string, unknown>);
      expect(a.objective).toMatch(/^custom:[0-9a-f]{16}$/);
      for (const field of ['loss', 'coefficients', 'clipped', 'ratios']) expect(a[field], field).toEqual(b[field]);
    }
    const bad = await run(['--objective-file', file('bad.txt', 'let a = ratio;\n-a * advantag'), '--input', input]);
    expect([bad.code === 0, bad.stderr]).toEqual([false, expect.stringContaining('Line 2, column 6')]);
    expect(bad.stderr).toContain('Did you mean advantage?');
  }, 240_000);
});
