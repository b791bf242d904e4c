import { createStore } from 'zustand/vanilla';
import type { FrozenBatch, LensStore } from '../../store/lensStore';
import type { Level } from '../../core/levels';
import { decodeLens, encodeLens } from '../../lens/codec';
import { lensSettingsOf } from '../../lens/settings';
import { LensClient } from '../../lens/worker/client';
import type { LensAnswer, LensSettings, LensSource, LensWanted, MatchQuantity, MatchResult } from '../../lens/types';
import { UserError } from '../../core/errors';
import { ratioLevel } from '../charts/looks';
import type { TokenAddress } from '../charts/types';
import { leadersOf } from './engine';

export type SortBy = 'batch' | 'maxRatio' | 'clippedTokens' | 'clippedGradient';
export type RewardFilter = 'all' | 'right' | 'wrong';
export type LowerTab = 'table' | 'token' | 'answers';
export type SideTab = 'length' | 'histograms' | 'whatIf';

/** Everything the open lens shows; it outlives a visit to another page. */
export interface LensModel {
  frozen: FrozenBatch | null;
  settings: LensSettings | null;
  match: { target: number; quantity: MatchQuantity };
  /** What the newest settings that were computed gave; the picture of a moment ago while the next is under way. */
  answer: LensAnswer | null;
  problem: string | null;
  /** What the last match came to; null once a width was moved by hand. */
  matched: { target: number; quantity: MatchQuantity; results: readonly MatchResult[] } | null;
  /** The objective that judges each level. */
  leaders: Record<Level, string>;
  place: TokenAddress;
  /** Nats that the chosen token has been moved by; 0 = not at all. */
  moved: number;
  sortBy: SortBy;
  filter: RewardFilter;
  search: string;
  /** The objective whose numbers stand in the formula. */
  formula: string;
  compare: string;
  quantity: MatchQuantity;
  lower: LowerTab;
  side: SideTab;
  editing: boolean;
  /** Every objective there is, or those of the deck. */
  showAll: boolean;
}

export type LensModelStore = ReturnType<typeof createLensModel>;

/** Which parts depend on what: a dragged epsilon asks for less than another cut. */
const ALL: LensWanted = { columns: true, table: true, variants: true, curves: true, scaling: true };
/** The objectives of the page's deck; the others are counted once they are asked for. */
export const MAIN_OBJECTIVES: readonly string[] = ['grpo', 'sspo', 'gspo', 'sppo', 'lpo'];

function createLensModel(shared: LensStore) {
  const store = createStore<LensModel>()(() => ({
    frozen: null,
    settings: null,
    match: { target: 0.02, quantity: 'clippedTokens' },
    answer: null,
    problem: null,
    matched: null,
    leaders: { token: 'grpo', segment: 'sspo', sequence: 'gspo' },
    place: { completion: 0, token: 0 },
    moved: 0,
    sortBy: 'clippedGradient',
    filter: 'all',
    search: '',
    formula: 'grpo',
    compare: 'gspo',
    quantity: 'clippedTokens',
    lower: 'table',
    side: 'length',
    editing: false,
    showAll: false,
  }));
  const client = new LensClient();
  /** The first answer for a batch chooses the token to begin with. */
  let wantsPlace = false;

  const take = (answer: LensAnswer) => {
    const { answer: before, settings, leaders } = store.getState();
    const merged: LensAnswer = {
      ...answer,
      curves: answer.curves ?? before?.curves ?? null,
      scaling: answer.scaling ?? before?.scaling ?? null,
      columns: answer.columns ?? before?.columns ?? null,
      table: answer.table ?? before?.table ?? null,
      worst: answer.columns ? answer.worst : (before?.worst ?? []),
    };
    store.setState({ answer: merged, problem: null });
    const worst = merged.worst[0];
    if (wantsPlace && worst) {
      wantsPlace = false;
      store.setState({ place: { completion: worst.completion, token: worst.token }, moved: 0 });
    }
    if (answer.match && settings) {
      const overrides = { ...settings.overrides, ...Object.fromEntries(answer.match.map((result) => [result.objective, result.widths])) };
      patch({ overrides, widths: widthsInForce({ ...settings, overrides }, leaders) });
      store.setState({ matched: { ...store.getState().match, results: answer.match } });
    }
  };

  /** Asks the worker; of several questions only the newest is answered. */
  const ask = (settings: LensSettings, wanted: LensWanted = ALL) => {
    const { showAll, leaders, frozen } = store.getState();
    // A typed objective is asked for when it trained on the batch; it leads no level, since its band need not be one of 1 - low to 1 + high.
    const trained = frozen ? [frozen.source.record.objective] : [];
    const objectives = showAll ? {} : { objectives: [...new Set([...MAIN_OBJECTIVES, ...Object.values(leaders), ...trained])] };
    client.ask(settings, { ...wanted, ...objectives }).then(
      (answer) => {
        if (answer) take(answer);
      },
      (error: unknown) => {
        const hint = error instanceof UserError ? ` ${error.hint}` : '';
        store.setState({ problem: error instanceof Error ? `${error.message}${hint}` : String(error) });
      },
    );
  };

  /** Takes new settings, repaints what one row shows at once, and has the rest computed. */
  const patch = (change: Partial<LensSettings>) => {
    const { settings } = store.getState();
    if (!settings) return;
    const next = { ...settings, ...change };
    store.setState({ settings: next, matched: null });
    const isWidthsOnly = Object.keys(change).every((key) => key === 'widths' || key === 'overrides');
    ask(next, isWidthsOnly ? { columns: true, table: true, variants: true } : ALL);
  };

  const openBatch = (frozen: FrozenBatch) => {
    const { frozen: before, settings } = store.getState();
    if (before === frozen) return;
    const { address } = shared.getState();
    const start = settings ?? readSettings(address, frozen.source);
    // Hand-edited cuts belong to one batch.
    const next = before ? { ...start, edits: {} } : start;
    wantsPlace = true;
    store.setState({ frozen, settings: next, leaders: leadersOf(frozen.source), answer: null, problem: null, matched: null, place: placeFrom(address, frozen.source) ?? { completion: 0, token: 0 }, moved: 0, formula: store.getState().frozen ? store.getState().formula : frozen.source.record.objective });
    if (!before) {
      if (placeFrom(address, frozen.source)) wantsPlace = false;
      const match = readMatch(address);
      if (match) store.setState({ match });
    }
    client.setSource(frozen.source);
    ask(next);
  };

  store.subscribe((state, before) => {
    if (state.settings !== before.settings || state.place !== before.place || state.match !== before.match || state.frozen !== before.frozen) shared.getState().writeAddress(addressOf(state));
  });
  shared.subscribe((state, before) => {
    if (state.frozen && state.frozen !== before.frozen) openBatch(state.frozen);
    const { frozen } = store.getState();
    if (state.addressRead !== before.addressRead && frozen) {
      const settings = readSettings(state.address, frozen.source);
      store.setState({ settings });
      ask(settings);
    }
  });
  const { frozen: waiting } = shared.getState();
  if (waiting) openBatch(waiting);

  return Object.assign(store, {
    patch,
    openBatch,
    setWidth(level: Level, width: { low: number; high: number }) {
      const { settings } = store.getState();
      if (!settings) return;
      // A level's slider takes its objectives along, matched or not.
      const overrides = Object.fromEntries(Object.entries(settings.overrides).filter(([id]) => ratioLevel(id) !== level));
      patch({ widths: { ...settings.widths, [level]: width }, overrides });
    },
    matchAll() {
      const { settings, match } = store.getState();
      if (settings) ask(settings, { match: { target: match.target, quantity: match.quantity, shape: 'symmetric' } });
    },
    choose(place: TokenAddress) {
      store.setState({ place, moved: 0 });
    },
    set(change: Partial<LensModel>) {
      store.setState(change);
    },
    showAll(showAll: boolean) {
      const { settings } = store.getState();
      store.setState({ showAll });
      if (settings) ask(settings);
    },
    reset() {
      const { frozen } = store.getState();
      if (frozen) patch(lensSettingsOf(frozen.source.record.config));
    },
  });
}

type Widths = Record<Level, { low: number; high: number }>;

/** The widths in force at each level: its leading objective's. */
export function widthsInForce(settings: LensSettings, leaders: Record<Level, string>): Widths {
  const at = (level: Level) => settings.overrides[leaders[level]] ?? settings.widths[level];
  return { token: at('token'), segment: at('segment'), sequence: at('sequence') };
}

function addressOf({ settings, place, match, frozen }: LensModel): ReadonlyMap<string, string> {
  const values = new Map<string, string>(settings && frozen ? encodeLens(settings, lensSettingsOf(frozen.source.record.config)) : []);
  if (frozen?.origin.kind === 'run') values.set('lensStep', String(frozen.source.record.step));
  values.set('lensAt', `${place.completion},${place.token}`);
  if (match.target !== 0.02 || match.quantity !== 'clippedTokens') values.set('lensMatch', `${match.target},${match.quantity}`);
  return values;
}

function placeFrom(address: ReadonlyMap<string, string>, source: LensSource): TokenAddress | null {
  const [completion, token] = (address.get('lensAt') ?? '').split(',').map(Number);
  if (completion === undefined || token === undefined) return null;
  const row = source.record.completions[completion];
  return row && Number.isInteger(token) && token >= 0 && token < row.tokens.length ? { completion, token } : null;
}

/** What the address says over what the run trained with; what it cannot say is left as it was. */
function readSettings(address: ReadonlyMap<string, string>, source: LensSource): LensSettings {
  return decodeLens(address, lensSettingsOf(source.record.config)).settings;
}

function readMatch(address: ReadonlyMap<string, string>): LensModel['match'] | null {
  const [target = '', quantity] = (address.get('lensMatch') ?? '').split(',');
  const share = Number(target);
  if (!(share > 0 && share < 1) || (quantity !== 'clippedTokens' && quantity !== 'clippedGradient')) return null;
  return { target: share, quantity };
}

const models = new WeakMap<LensStore, LensModelStore>();

/** The lens of a session: made when it is first opened. */
export function lensModelOf(shared: LensStore): LensModelStore {
  const known = models.get(shared);
  if (known) return known;
  const made = createLensModel(shared);
  models.set(shared, made);
  return made;
}
