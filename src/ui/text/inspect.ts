import { hyperparametersOf } from '../../config/hyper';
import type { RunConfig } from '../../config/runConfig';
import { advantageNote, advantagesFor } from '../../lens/advantage';
import { bindingEdge, branchesOf, surrogateBranches, type Branches } from '../../lens/marks';
import { baseOf, getObjective } from '../../objectives';
import type { BatchRecord, CompletionRecord } from '../../worker/protocol';
import { ratioLevel } from '../charts/looks';
import type { TokenAddress } from '../charts/types';
import { isSingleAnswers, judge, segmentSpans, shownCompletions } from './marks';
import type { Mark } from './marks';
import { valueFacts, type ValueFacts } from './valueLine';

/** Objectives of the table "if trained with", in the deck's order. */
export const COMPARED = ['grpo', 'sspo', 'gspo', 'sppo'] as const;

/** One line of that table. */
export interface Comparison {
  objective: string;
  advantage: number;
  mark: Mark;
  /** The clip edge on the side that the advantage's sign makes binding (ratio). */
  edge: number;
}

/** Everything the inspector says of one token, from the stored batch. Log-probs and entropy in nats. */
export interface TokenFacts {
  row: CompletionRecord;
  /** "row 3" among the answers to its prompt, or the prompt itself where each has one answer. */
  rowName: string;
  /** Place within the row, from 1. */
  tokenNumber: number;
  token: string;
  oldLogp: number;
  newLogp: number;
  entropy: number;
  /** Of the token itself, whichever objective trains. */
  tokenRatio: number;
  tokenLogRatio: number;
  segment: { text: string; before: string; after: string; number: number; count: number };
  /** Tokens of the unit that the objective in use clips. */
  unitTokens: number;
  inUse: Comparison;
  /** The objective in use in numbers; null when its value is not that of a clipped surrogate. */
  surrogate: Branches | null;
  others: Comparison[];
  /** Why SPPO's advantage is not its own, or null when V(prompt) is known. */
  sppoNote: string | null;
  /** What a token critic (PPO) said of it; null without one. */
  value: ValueFacts | null;
}

/** Looks one token up and asks every objective about it; null when the address points nowhere. */
export function inspectToken(batch: BatchRecord, address: TokenAddress, config: RunConfig): TokenFacts | null {
  const row = batch.completions[address.completion];
  if (!row || address.token < 0 || address.token >= row.tokens.length) return null;
  const t = address.token;
  const compare = (objective: string): Comparison => {
    const advantages = advantagesFor(objective, row, batch);
    const mark = judge(objective, [row], config, batch.meanEntropy, [advantages])[0]?.[t] as Mark;
    const advantage = advantages[t];
    return { objective, advantage, mark, edge: bindingEdge(mark, advantage) };
  };
  const spans = segmentSpans(row.segments);
  const spanIndex = spans.findIndex(({ start, end }) => t >= start && t < end);
  const span = spans[spanIndex] as { start: number; end: number };
  const text = (from: number, to: number) => row.tokens.slice(from, to).join('');
  const level = ratioLevel(config.objective);
  const inUse = compare(config.objective);
  // A mixture stands in its base's place.
  const base = baseOf(config.objective);
  const tokenRatio = compare('grpo').mark;
  return {
    row,
    rowName: isSingleAnswers(batch) ? (batch.prompts[row.group] ?? '') : `row ${shownCompletions(batch, row.group, 1).indexOf(address.completion) + 1}`,
    tokenNumber: t + 1,
    token: row.tokens[t] as string,
    oldLogp: row.oldLogp[t] as number,
    newLogp: row.newLogp[t] as number,
    entropy: row.entropy[t] as number,
    tokenRatio: tokenRatio.ratio,
    tokenLogRatio: tokenRatio.logRatio,
    segment: { text: text(span.start, span.end), before: text(span.start, t), after: text(t + 1, span.end), number: spanIndex + 1, count: spans.length },
    unitTokens: level === 'token' ? 1 : level === 'segment' ? span.end - span.start : row.tokens.length,
    inUse,
    surrogate: getObjective(config.objective).ratioLevel ? null : surrogateOf(inUse, hyperparametersOf(config)['dualClip'] ?? 0),
    others: COMPARED.map((objective) => (base === 'lpo' && objective === 'sspo' ? 'lpo' : objective)).map((objective) => (objective === base ? inUse : compare(objective))),
    sppoNote: advantageNote('sppo', batch),
    value: valueFacts(batch, row, t),
  };
}

export type { Branches } from '../../lens/marks';

/** A comparison's two branches in numbers. */
export const branches = ({ mark, advantage }: Comparison, dualClip: number): Branches => branchesOf(mark, advantage, dualClip);

/** The branches, where the objective's own loss agrees with them; else null. */
export const surrogateOf = ({ mark, advantage }: Comparison, dualClip: number): Branches | null => surrogateBranches(mark, advantage, dualClip);
