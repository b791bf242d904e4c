import { evaluateTokens, getObjective, OBJECTIVES, type CompactBatch, type Objective, type TokenResults } from '../objectives';
import { advantageFor } from './advantage';
import { lensColumns, worstTokens } from './columns';
import { epsCurve, namedWidths } from './curves';
import { solveMatch } from './match';
import { solveByBisection } from './matchBisect';
import { clipProfile, evaluateUnclipped, type ClipProfile } from './profile';
import { compactFor, lensBatch, type Evaluated, type LensBatch } from './prepare';
import { lengthScaling } from './scaling';
import { hasWidths, hyperFor, isPlainBand, modeFor } from './settings';
import { tableRow } from './table';
import type { LensAnswer, LensSettings, LensSource, LensTableRow, LensWanted, MatchRequest, MatchResult } from './types';

/**
 * The lens on one stored batch. What a dragged width does not touch (cuts, unclipped coefficients, the width at which each
 * token is let go, rows of other levels) is kept between requests, so that a drag recounts only what changed.
 */
export class LensSession {
  private cut: { key: string; prepared: LensBatch } | null = null;
  private readonly compacts = new Map<string, CompactBatch>();
  private readonly unclipped = new Map<string, { results: TokenResults; profile: ClipProfile | null }>();
  private readonly evaluations = new Map<string, Evaluated>();
  private readonly rows = new Map<string, LensTableRow>();

  constructor(readonly source: LensSource) {}

  /**
   * Computes what is wanted under the settings.
   * @throws UserError when the settings leave no rows, or ask for what the batch does not hold
   */
  answer(settings: LensSettings, wanted: LensWanted): LensAnswer {
    const started = performance.now();
    const prepared = this.prepare(settings);
    const objectives = (wanted.objectives ?? OBJECTIVES.map((o) => o.id)).map(getObjective);
    const needsScaling = wanted.scaling === true || wanted.curves === true;
    const scaling = needsScaling ? lengthScaling(this.compactOf(prepared, getObjective('grpo'), settings), settings.widths) : null;
    const out: LensAnswer = {
      columns: wanted.columns ? lensColumns(prepared, this.compactOf(prepared, getObjective('grpo'), settings), objectives.map((o) => this.evaluate(prepared, o, settings))) : null,
      table: wanted.table ? this.table(prepared, objectives, settings, wanted.variants === true) : null,
      curves: wanted.curves
        ? objectives.flatMap((o) => {
            const profile = this.unclippedOf(prepared, o, settings).profile;
            return profile ? [epsCurve(o, profile, this.widthsOf(o, settings), scaling)] : [];
          })
        : null,
      scaling: wanted.scaling ? scaling : null,
      match: wanted.match ? this.match(prepared, settings, wanted.match) : null,
      worst: wanted.columns ? worstTokens(prepared) : [],
      ms: 0,
    };
    this.prune(objectives.length);
    return { ...out, ms: performance.now() - started };
  }

  private prepare(settings: LensSettings): LensBatch {
    const { rule, minLength, edits, minibatch } = settings;
    const key = JSON.stringify([rule, minLength, edits, minibatch]);
    if (this.cut?.key !== key) {
      this.cut = { key, prepared: lensBatch(this.source, settings) };
      for (const cache of [this.compacts, this.unclipped, this.evaluations, this.rows]) cache.clear();
    }
    return this.cut.prepared;
  }

  private compactOf(prepared: LensBatch, objective: Objective, settings: LensSettings): CompactBatch {
    const mode = modeFor(objective, settings, this.source.maxTokens);
    const { record } = this.source;
    const hasOwnAdvantage = record.completions.some((row) => advantageFor(objective.id, row, record) !== row.advantage);
    const key = `${mode}|${hasOwnAdvantage ? objective.id : ''}`;
    return kept(this.compacts, key, () => compactFor(prepared, objective, mode));
  }

  private evaluate(prepared: LensBatch, objective: Objective, settings: LensSettings): Evaluated {
    const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
    const mode = modeFor(objective, settings, this.source.maxTokens);
    return kept(this.evaluations, keyOf(objective, mode, hyper), () => {
      const compact = this.compactOf(prepared, objective, settings);
      return { objective, compact, results: evaluateTokens(objective, compact, hyper), hyper, mode };
    });
  }

  /** Without clips: the same whatever the widths. */
  private unclippedOf(prepared: LensBatch, objective: Objective, settings: LensSettings): { results: TokenResults; profile: ClipProfile | null } {
    const hyper = hyperFor(objective, this.source.record.config, settings, prepared.hasRef);
    const key = keyOf(objective, modeFor(objective, settings, this.source.maxTokens), { ...hyper, clipLow: 0, clipHigh: 0 });
    return kept(this.unclipped, key, () => {
      const compact = this.compactOf(prepared, objective, settings);
      const results = evaluateUnclipped(objective, compact, hyper);
      return { results, profile: isPlainBand(objective) ? clipProfile(objective, compact, results, hyper.dualClip ?? 0) : null };
    });
  }

  private row(prepared: LensBatch, objective: Objective, settings: LensSettings, variant: LensTableRow['variant']): LensTableRow {
    const evaluated = this.evaluate(prepared, objective, settings);
    // An objective without widths is measured with its level's.
    const band = objective.widths ? '' : JSON.stringify(settings.widths);
    return kept(this.rows, `${variant ?? ''}|${band}|${keyOf(objective, evaluated.mode, evaluated.hyper)}`, () =>
      tableRow(prepared, evaluated, this.unclippedOf(prepared, objective, settings).results.coefficient, settings.widths, variant),
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
    const objectives = (request.objectives ?? OBJECTIVES.map((o) => o.id)).map(getObjective).filter(hasWidths);
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

function keyOf(objective: Objective, mode: string, hyper: Readonly<Record<string, number>>): string {
  return `${objective.id}|${mode}|${JSON.stringify(hyper)}`;
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
