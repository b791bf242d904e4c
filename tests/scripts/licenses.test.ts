import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FOR_TOOLS, isAllowed, licensed, licensesMarkdown, PAGE, PERMISSIVE } from '../../scripts/licenses.mjs';

const list = licensed();

describe('licences', () => {
  test('docs/licenses.md is what the packages say now', () => {
    expect(readFileSync(PAGE, 'utf8'), 'run node scripts/licenses.mjs').toBe(licensesMarkdown(list));
  });

  test('holds every direct dependency, and what comes with it', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
    for (const [name, version] of Object.entries(dependencies)) expect(list.filter((item) => item.name === name && item.version === version), name).toHaveLength(1);
    // Through recharts, zustand's neighbours and onnxruntime-web.
    for (const name of ['d3-scale', 'scheduler', 'flatbuffers', 'lightningcss']) expect(list.map((item) => item.name), name).toContain(name);
    expect(list.length).toBeGreaterThan(80);
  });

  test('are permissive in the page, and nowhere more than share-alike of the tool itself', () => {
    for (const { name, license, part } of list) expect(isAllowed(license, part === 'page' ? PERMISSIVE : FOR_TOOLS), `${name}: ${license}`).toBe(true);
  });

  test('are read as SPDX expressions', () => {
    expect(isAllowed('MIT AND ISC', PERMISSIVE)).toBe(true);
    expect(isAllowed('(GPL-3.0 OR MIT)', PERMISSIVE)).toBe(true);
    for (const license of ['GPL-3.0', 'MIT AND GPL-3.0', 'not stated', '', 'MPL-2.0', 'SEE LICENSE IN LICENSE']) expect(isAllowed(license, PERMISSIVE), license).toBe(false);
  });
});
