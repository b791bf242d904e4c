import type { Level } from '../../core/levels';
import { UserError } from '../../core/errors';
import { logRatioAt } from '../defs/shared';
import { differentiate } from '../differentiate';
import { add, constant, hyper, type Expr } from '../expr';
import { buildGraph, size } from '../graph';
import { defineObjective, type Objective } from '../objective';
import { compileTokenLoss } from '../toWgsl';
import { mayClip, whereGradientVanishes } from './clipRule';
import { ObjectiveTextError } from './errors';
import { parseObjective, type ParsedObjective } from './parser';
import { probe } from './probe';

/** Terms of loss and gradient together that a shader may hold. */
const MAX_PROGRAM = 8000;

/** An objective made from a text, with the reading of it. */
export interface CustomObjective {
  text: string;
  objective: Objective;
  parsed: ParsedObjective;
}

/**
 * Reads a text and makes an objective of it that training, metrics and shaders take like any other.
 * Refuses what cannot be differentiated, compiled, or is not finite over the probe grid (probe.ts).
 * @throws ObjectiveTextError with the place
 */
export function buildObjective(text: string): CustomObjective {
  const parsed = parseObjective(text);
  const { loss, parameters, lossSpan } = parsed;
  const refuse = (reason: string, hint = '') => new ObjectiveTextError(text, lossSpan, reason, hint);
  const coefficient = differentiate(loss);
  if (coefficient.kind === 'const') throw refuse('the loss does not depend on logp, so nothing would be learnt.', 'Use ratio, segRatio, seqRatio or logp outside stopGrad.');
  const terms = size(add(coefficient, loss));
  if (terms > MAX_PROGRAM) throw refuse(`loss and gradient hold ${terms} terms; a shader may hold ${MAX_PROGRAM}.`);
  checkReference(text, parsed);
  const level = parsed.level ?? levelOf(loss);
  const isSilent = parsed.clipped === null && parsed.clipEffect === 'cut' && mayClip(loss);
  const clipped = isSilent ? whereGradientVanishes(loss) : parsed.clipped;
  const hasWidths = ['clipLow', 'clipHigh'].every((name) => parameters.some((p) => p.name === name));
  const objective = defineObjective({
    id: customId(text),
    title: parsed.title ?? 'Custom',
    summary: 'Your own objective: the loss of one token as you typed it, differentiated exactly.',
    caveat: 'Nobody has published this one. Its formula is shown as it was read.',
    sources: [],
    importanceSamplingLevel: level,
    lossAggMode: parsed.lossAggMode,
    advantageEstimator: parsed.advantageEstimator,
    hyperparameters: parameters,
    loss,
    logRatio: logRatioAt(level),
    clipped: clipped ?? constant(0),
    clipEffect: clipped ? parsed.clipEffect : 'none',
    widths: parsed.band ?? (hasWidths ? { low: hyper('clipLow'), high: hyper('clipHigh') } : null),
    isClippedSurrogate: false,
  });
  try {
    compileTokenLoss(objective);
  } catch (error) {
    if (error instanceof UserError) throw refuse(error.message, error.hint);
    throw error;
  }
  probe(text, objective, parsed);
  return { text, objective, parsed };
}

/** The id of a text: the same text always has the same one. */
export function customId(text: string): string {
  return `custom:${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}`;
}

/** True for ids that customId gives. */
export const isCustomId = (id: string): boolean => /^custom:[0-9a-f]{16}$/.test(id);

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(text: string, seed: number): string {
  let h = seed >>> 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b) >>> 0;
  return ((h ^ (h >>> 13)) >>> 0).toString(16).padStart(8, '0');
}

/** The reference policy runs only while beta > 0; without beta a text that reads it would compare the policy with itself. */
function checkReference(text: string, { loss, clipped, band, parameters, spans, lossSpan }: ParsedObjective): void {
  const graph = buildGraph([loss, ...(clipped ? [clipped] : []), ...(band ? [band.low, band.high] : [])]);
  const node = graph.nodes.find(({ expr }) => expr.kind === 'leaf' && expr.name === 'refLogp');
  if (node && !parameters.some((p) => p.name === 'beta')) {
    throw new ObjectiveTextError(text, spans.get(node.expr) ?? lossSpan, 'refLogp needs a parameter beta: the reference policy is loaded only while beta > 0.', 'Add: param beta = 0.04 in 0..1; and weigh the term with it.');
  }
}

/** The level of the ratio that a loss forms: that of its means over log ratios, the token's where there are none. */
function levelOf(loss: Expr): Level {
  const levels = new Set<Level>();
  for (const { expr } of buildGraph([loss]).nodes) if (expr.kind === 'mean') levels.add(expr.level);
  return levels.size === 1 ? ([...levels][0] as Level) : 'token';
}
