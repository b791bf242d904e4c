import { LEVEL_TITLE } from '../src/core/levels';
import { ADVANTAGE_ESTIMATORS, AGGREGATION_HELP, ESTIMATORS, LOSS_AGG_MODES, objectiveTex, OBJECTIVES, type Objective } from '../src/objectives';

/** docs/objectives.md, written from the definitions themselves; a test holds the file to this. */

export function objectivesMarkdown(): string {
  return [
    '# Objectives',
    '',
    'This page is written by `npm run -s ratioscope -- eval --list --markdown > docs/objectives.md` from the definitions in `src/objectives/defs`; `eval --list` prints the same as JSON.',
    '',
    'Losses are minimised. A band is checked strictly: a ratio exactly on its bound is not clipped. G responses, |y_i| tokens of response i, S_{i,k} tokens of its subsentence k.',
    '',
    '## Aggregation (`lossAggMode`)',
    '',
    ...LOSS_AGG_MODES.map((mode) => `- \`${mode}\`: ${AGGREGATION_HELP[mode]}`),
    '',
    '## Advantages (`advantage`)',
    '',
    ...ADVANTAGE_ESTIMATORS.map((id) => `- \`${id}\`: ${ESTIMATORS[id].text}`),
    '',
    ...OBJECTIVES.flatMap(section),
  ].join('\n');
}

function section(o: Objective): string[] {
  const { loss, definitions } = objectiveTex(o, { colour: false });
  return [
    `## ${o.title} (\`${o.id}\`)`,
    '',
    o.summary,
    '',
    ...(o.caveat ? [`**Mind:** ${o.caveat}`, ''] : []),
    `- Ratio level: ${LEVEL_TITLE[o.importanceSamplingLevel].toLowerCase()}`,
    `- Aggregation by default: \`${o.lossAggMode}\``,
    `- Advantage: ${ESTIMATORS[o.advantageEstimator].text}`,
    '',
    ...[loss, ...definitions.map((d) => d.tex)].flatMap((tex) => ['$$', tex, '$$', '']),
    '| name | symbol | default | bounds | values in use | meaning |',
    '|---|---|---|---|---|---|',
    ...o.hyperparameters.map((h) => {
      const bounds = h.zeroOrAbove === undefined ? `${h.min} to ${h.max}` : `0, or above ${h.zeroOrAbove} up to ${h.max}`;
      const named = Object.entries(h.named ?? {}).map(([name, value]) => `${value} (${name})`);
      return `| \`${h.name}\` | $${h.tex}$ | ${h.default} | ${bounds} | ${named.join(', ')} | ${h.label}. ${h.help.replaceAll('|', '\\|')} |`;
    }),
    '',
    'Sources:',
    '',
    ...o.sources.map((s) => `- [${s.label}](${s.url}): ${s.note}`),
    '',
  ];
}
