import { registerFrom } from '../config/custom';
import { evaluateTokens, getObjective, OBJECTIVES, type CompactBatch, type Objective } from '../objectives';
import { isCustomId } from '../objectives/custom';
import { buildGraph } from '../objectives/graph';
import { ownAdvantage } from './advantage';
import { cutColumns, verdictColumns, worstTokens } from './columns';
import { bareCurve, epsCurve, evaluatedShares, namedWidths, profiledShares, type ClipShares } from './curves';
import { solveMatch } from './match';
import { solveByBisection } from './matchBisect';
import { compactFor, lensBatch, type Evaluated, type LensBatch } from './prepare';
import { clipProfile, evaluateUnclipped, type ClipProfile } from './profile';
import { lengthScaling, measureSpread, type Spread } from './scaling';
import { hasWidths, hyperFor, isPlainBand, modeFor } from './settings';
import { tableRow } from './table';
import type {
  EpsCurve, LensAnswer, LensColumns, LensSettings, LensSource, LensTableRow, LensWanted, MatchRequest, MatchResult, ObjectiveColumns, WorstToken,
} from './types';

/**
 * The lens on one stored batch. What a dragged width does not touch (cuts, unclipped coefficients, the width at which each
 * token is let go, rows of other levels) is kept between requests, so that a drag recounts only what changed.
 */
export class LensSession {
  private cut: { key: string; minibatch: number | null; prepared: LensBatch; columns: Omit<LensColumns, 'objectives'>; spread: Spread; worst: WorstToken[] } | null = null;
  private readonly compacts = new Map<string, CompactBatch>();
  private readonly unclipped = new Map<string, Unclipped>();
  private readonly evaluations = new Map<string, Evaluated & { verdict: ObjectiveColumns }>();
  private readonly rows = new Map<string, LensTableRow>();

  /** A batch of a typed objective brings its text along: the lens may run where nobody has read it yet. */
  constructor(readonly source: LensSource) {
    registerFrom(source.record.config);
  }

  /**
   * Computes what is wanted under the settings.
   * @throws UserError when the settings leave no rows, or ask for what the batch does not hold
   */
  answer(settings: LensSettings, wanted: LensWanted): LensAnswer {
    const started = performance.now();
    const { prepared, columns, spread, worst } = this.prepare(settings);
    const objectives = (wanted.objectives ?? this.every()).map(getObjective);
    const scaling = lengthScaling(spread, settings.widths);
    const out: LensAnswer = {
      columns: wanted.columns ? { ...columns, objectives: Object.fromEntries(objectives.map((o) => [o.id, this.evaluate(prepared, o, settings).verdict])) } : null,
      table: wanted.table ? this.table(prepared, objectives, settings, wanted.variants === true) : null,
      curves: wanted.curves
        ? objectives.flatMap((o) => {
            const { shares, curve } = this.unclippedOf(prepared, o, settings);
            return shares && curve ? [epsCurve(curve(), shares, this.widthsOf(o, settings), scaling)] : [];
          })
        : null,
      scaling: wanted.scaling ? scaling : null,
      match: wanted.match ? this.match(prepared, settings, wanted.match) : null,
      worst: wanted.columns ? worst : [],
      ms: 0,
    };
    this.prune(objectives.length);
    return { ...out, ms: performance.now() - started };
  }

  /** All listed objectives, and the one that trained on the batch if it was typed. */
  private every(): string[] {
    return [...new Set([...OBJECTIVES.map((o) => o.id), this.source.record.objective])];
  }

  private prepare(settings: LensSettings): NonNullable<typeof this.cut> {
    const { rule, minLength, edits, minibatch } = settings;
    const key = JSON.stringify([rule, minLength, edits, minibatch]);
    if (this.cut?.key !== key) {
      const prepared = lensBatch(this.source, settings);
      const isSameRows = this.cut !== null && this.cut.minibatch === minibatch;
      this.compacts.clear();
      for (const cache of [this.unclipped, this.evaluations, this.rows]) {
        for (const name of [...cache.keys()]) if (!isSameRows || !name.startsWith(UNCUT)) cache.delete(name);
      }
      const compact = this.compactOf(prepared, getObjective('grpo'), settings);
      this.cut = { key, minibatch, prepared, columns: cutColumns(prepared, compact), spread: measureSpread(compact), worst: worstTokens(prepared) };
    }
    return this.cut;
  }

  private compactOf(prepared: LensBatch, objective: Objective, settings: LensSettings): CompactBatch {
    const mode = modeFor(objective, settings, this.source.maxTokens);
    const { record } = this.source;
    const hasOwnAdvantage = record.completions.some((row) => ownAdvantage(objective.id, row, record) !== null);
    const key = `${mode}|${hasOwnAdvantage ? objective.id : ''}`;
    return kept(this.compacts, key, () => compactFor(prepared, objective, mode));
  }

  private evaluate(prepared: LensBatch, objective: Objective, settings: LensSettings): Evaluated & { verdict: ObjectiveColumns } {
    const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
    const mode = modeFor(objective, settings, this.source.maxTokens);
    return kept(this.evaluations, keyOf(objective, mode, hyper), () => {
      const compact = this.compactOf(prepared, objective, settings);
      const evaluated: Evaluated = { objective, compact, results: evaluateTokens(objective, compact, hyper), hyper, mode };
      return { ...evaluated, verdict: verdictColumns(evaluated) };
    });
  }

  /** Without clips: the same whatever the widths. */
  private unclippedOf(prepared: LensBatch, objective: Objective, settings: LensSettings): Unclipped {
    const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
    const key = keyOf(objective, modeFor(objective, settings, this.source.maxTokens), { ...hyper, clipLow: 0, clipHigh: 0 });
    return kept(this.unclipped, key, () => {
      const compact = this.compactOf(prepared, objective, settings);
      const results = evaluateUnclipped(objective, compact, hyper);
      const profile = isPlainBand(objective) ? clipProfile(objective, compact, results, hyper.dualClip) : null;
      const shares = profile ? profiledShares(profile) : isCustomId(objective.id) && hasWidths(objective) ? evaluatedShares(objective, compact, hyper) : null;
      return { coefficient: results.coefficient, profile, shares, curve: shares && once(() => bareCurve(objective, shares)) };
    });
  }

  private row(prepared: LensBatch, objective: Objective, settings: LensSettings, variant: LensTableRow['variant']): LensTableRow {
    const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
    const mode = modeFor(objective, settings, this.source.maxTokens);
    // An objective without widths is measured with its level's.
    const band = objective.widths ? '' : JSON.stringify(settings.widths);
    return kept(this.rows, keyOf(objective, mode, hyper, `${variant ?? ''}${band}`), () =>
      tableRow(prepared, this.evaluate(prepared, objective, settings), this.unclippedOf(prepared, objective, settings).coefficient, settings.widths, variant),
    );
  }

  private table(prepared: LensBatch, objectives: readonly Objective[], settings: LensSettings, variants: boolean): LensTableRow[] {
    return objectives.flatMap((objective) => {
      const own = this.row(prepared, objective, settings, null);
      if (!variants || !isPlainBand(objective)) return [own];
      const others = namedWidths(objective).map(({ kind, low, high }) =>
        this.row(prepared, objective, { ...settings, overrides: { ...settings.overrides, [objective.id]: { low, high } } }, kind),
      );
      return [own, ...others];
    });
  }

  private widthsOf(objective: Objective, settings: LensSettings): { low: number; high: number } {
    const { clipLow, clipHigh } = hyperFor(objective, this.source.record.config, settings, false);
    return { low: clipLow, high: clipHigh };
  }

  private match(prepared: LensBatch, settings: LensSettings, request: MatchRequest): MatchResult[] {
    const objectives = (request.objectives ?? this.every()).map(getObjective).filter(hasWidths);
    return objectives.map((objective) => {
      const { profile } = this.unclippedOf(prepared, objective, settings);
      const current = this.widthsOf(objective, settings);
      if (profile) return solveMatch(profile, request, current);
      const compact = this.compactOf(prepared, objective, settings);
      const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
      return solveByBisection(objective, compact, hyper, request, current);
    });
  }

  /** A drag makes a new evaluation at every move; only the last few are worth their memory. */
  private prune(objectives: number): void {
    trim(this.evaluations, 2 * objectives + 8);
    trim(this.rows, 6 * objectives + 64);
  }
}

/** What an objective comes to without its clips, whatever its widths; without a curve where it has no pair of widths to draw it over. */
interface Unclipped {
  coefficient: Float64Array;
  profile: ClipProfile | null;
  shares: ClipShares | null;
  curve: (() => EpsCurve) | null;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Mark of what stays when the same rows are cut differently. */
const UNCUT = 'uncut ';

function keyOf(objective: Objective, mode: string, hyper: Readonly<Record<string, number>>, more = ''): string {
  return `${readsSegments(objective) ? '' : UNCUT}${objective.id}|${mode}|${JSON.stringify(hyper)}|${more}`;
}

const segmentReaders = new WeakMap<Objective, boolean>();

/** True when an objective's numbers depend on where subsentences are cut. */
function readsSegments(objective: Objective): boolean {
  let found = segmentReaders.get(objective);
  if (found === undefined) {
    const { loss, logRatio, clipped, widths } = objective;
    const { nodes } = buildGraph([loss, logRatio, clipped, ...(widths ? [widths.low, widths.high] : [])]);
    found = nodes.some(({ expr }) => (expr.kind === 'mean' && expr.level === 'segment') || (expr.kind === 'leaf' && expr.name === 'entropyRatio'));
    segmentReaders.set(objective, found);
  }
  return found || objective.importanceSamplingLevel === 'segment';
}

/** The value under a key, made when there is none; a value that is used again becomes the newest. */
function kept<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const found = cache.get(key);
  const value = found ?? make();
  cache.delete(key);
  cache.set(key, value);
  return value;
}

/** Drops the oldest. */
function trim(cache: Map<string, unknown>, most: number): void {
  for (const key of cache.keys()) {
    if (cache.size <= most) return;
    cache.delete(key);
  }
}
