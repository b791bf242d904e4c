import { describe, expect, test } from 'vitest';
import { checkSources, importsOf } from '../../scripts/check-imports.mjs';

const rulesOf = (files: Record<string, string>) => checkSources(new Map(Object.entries(files))).map((p) => `${p.file}:${p.line} ${p.rule}`);

describe('import rules', () => {
  test('finds every form of import, with its line, and no import in a comment', () => {
    const source = [
      "import a, { type B } from './a';",
      "import type { C } from './c';",
      "export * from './d';",
      "import './e.css';",
      "const f = await import('./f');",
      "new Worker(new URL('./g.ts', import.meta.url));",
      "// import x from './no';",
      "/* import y from './no'; */",
      'import {\n  h,\n  i as j,\n} from "./h";',
    ].join('\n');
    expect(importsOf(source).map((i) => [i.specifier, i.typeOnly, i.line])).toEqual([
      ['./a', false, 1],
      ['./c', true, 2],
      ['./d', false, 3],
      ['./h', false, 9],
      ['./e.css', false, 4],
      ['./f', false, 5],
      ['./g.ts', false, 6],
    ]);
  });

  test('lets imports go downward only', () => {
    const core = { 'src/core/a.ts': '' };
    expect(rulesOf({ ...core, 'src/trainer/b.ts': "import '../core/a';" })).toEqual([]);
    expect(rulesOf({ 'src/ui/a.ts': '', 'src/trainer/b.ts': "\nimport '../ui/a';" })[0]).toMatch(/^src\/trainer\/b.ts:2 trainer may import .*, not ui/);
    expect(rulesOf({ 'src/gpu/a.ts': '', 'src/ui/b.ts': "import type { A } from '../gpu/a';" })).toHaveLength(1);
    expect(rulesOf({ 'src/main.tsx': '', 'src/ui/b.ts': "import '../main';" })).toHaveLength(1);
    expect(rulesOf({ ...core, 'src/novel/b.ts': "import '../core/a';" })[0]).toContain('no known layer');
  });

  test('lets engines name the contract of objectives as types, and nothing else of them', () => {
    const objectives = { 'src/objectives/types.ts': '', 'src/objectives/index.ts': '' };
    expect(rulesOf({ ...objectives, 'src/engines/e.ts': "import type { T } from '../objectives/types';" })).toEqual([]);
    expect(rulesOf({ ...objectives, 'src/engines/e.ts': "import { T } from '../objectives/types';" })).toHaveLength(1);
    expect(rulesOf({ ...objectives, 'src/engines/e.ts': "import type { T } from '../objectives';" })).toHaveLength(1);
  });

  test('finds cycles of run-time imports and files that are not there', () => {
    expect(rulesOf({ 'src/core/a.ts': "import './b';", 'src/core/b.ts': "import './a';" })).toEqual(['src/core/b.ts:1 import cycle: src/core/a.ts -> src/core/b.ts -> src/core/a.ts']);
    expect(rulesOf({ 'src/core/a.ts': "import type { B } from './b';", 'src/core/b.ts': "import './a';" })).toEqual([]);
    expect(rulesOf({ 'src/core/a.ts': "import './gone';" })[0]).toContain('no such file');
  });

  test('keeps WebGPU, onnxruntime-web, KaTeX and the DOM where they belong', () => {
    expect(rulesOf({ 'src/gpu/a.ts': 'navigator.gpu;', 'src/engines/ort.ts': "import('onnxruntime-web');", 'src/ui/f.ts': "import 'katex';" })).toEqual([]);
    expect(rulesOf({ 'src/worker/a.ts': '// navigator.gpu is fine in a comment\nnavigator.gpu;' })).toEqual(['src/worker/a.ts:2 navigator.gpu only in src/gpu']);
    expect(rulesOf({ 'src/engines/other.ts': "import 'onnxruntime-web/wasm';" })).toHaveLength(1);
    expect(rulesOf({ 'src/store/a.ts': "import 'katex';" })).toHaveLength(1);
    expect(rulesOf({ 'src/trainer/a.ts': 'document.title;' })).toEqual(['src/trainer/a.ts:1 no DOM below the worker']);
  });
});
