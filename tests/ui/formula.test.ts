import katex from 'katex';
import { describe, expect, it } from 'vitest';
import { getObjective, LOSS_AGG_MODES, OBJECTIVES, objectiveTex, resolveHyperparameters } from '../../src/objectives';

/** As src/ui/formula/Tex.tsx sets it, but refusing what KaTeX cannot parse. */
const OPTIONS: katex.KatexOptions = {
  displayMode: true,
  output: 'htmlAndMathml',
  throwOnError: true,
  trust: (context) => context.command === '\\htmlClass',
  strict: (code: string) => (code === 'htmlExtension' ? 'ignore' : 'error'),
};

describe.each(OBJECTIVES.map((objective) => [objective.id, objective] as const))('formula of %s', (_, objective) => {
  it.each(LOSS_AGG_MODES)('is typeset by KaTeX under %s, every symbol of a level coloured', (lossAggMode) => {
    const formula = objectiveTex(objective, { hyper: resolveHyperparameters(objective), lossAggMode });
    const html = katex.renderToString(formula.loss, OPTIONS);
    expect(html).toContain('<math');
    const all = html + formula.definitions.map((d) => katex.renderToString(d.tex, OPTIONS)).join('');
    for (const { level } of formula.definitions) if (level) expect(all).toContain(`level-${level}`);
  });
});

describe('hue of the ratio', () => {
  it.each([['grpo', 'token'], ['sspo', 'segment'], ['lpo', 'segment'], ['gspo', 'sequence'], ['sppo', 'token']])('%s wears that of its %s ratio', (id, level) => {
    const formula = objectiveTex(getObjective(id), { hyper: resolveHyperparameters(getObjective(id)) });
    // With a dual clip the ratio stands in the definition of the clipped loss.
    const all = [formula.loss, ...formula.definitions.filter((d) => d.level === null).map((d) => d.tex)];
    expect(all.map((tex) => katex.renderToString(tex, OPTIONS)).join('')).toContain(`level-${level}`);
  });
});

describe('trust', () => {
  it('is given to no command but \\htmlClass', () => {
    const html = katex.renderToString('\\href{javascript:alert(1)}{x}', { ...OPTIONS, throwOnError: false });
    expect(html).not.toContain('href="javascript');
  });
});
