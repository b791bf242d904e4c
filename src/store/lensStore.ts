import { createStore } from 'zustand/vanilla';
import type { LensSource, MatchQuantity } from '../lens/types';
import type { BatchRecord } from '../worker/protocol';
import type { AddressPart } from './urlState';

/** The pages of the one page. */
export type PageView = 'train' | 'lens';

/** A batch that lies still under the lens. */
export interface FrozenBatch {
  source: LensSource;
  /** Where it came from: an iteration of this run, or a file. */
  origin: { kind: 'run' } | { kind: 'file'; name: string };
}

/** What "Match" is asked for. */
export interface MatchTarget {
  /** 0..1. */
  target: number;
  quantity: MatchQuantity;
}

/**
 * Which page is open, and what the lens holds between visits. Its settings live in the lens's own chunk; here they pass
 * through as the address writes them, so that the first page load needs nothing of the lens.
 */
export interface LensState {
  view: PageView;
  frozen: FrozenBatch | null;
  /** The lens's settings as `lens...=` values of an address; the lens reads and writes them. */
  address: ReadonlyMap<string, string>;
  /** Moves when an address was read, so that an open lens takes its settings from it. */
  addressRead: number;
  open(view: PageView): void;
  /** Puts a batch under the lens and opens it. */
  freeze(batch: BatchRecord): void;
  /** The same for a batch that was read from a file. */
  importBatch(source: LensSource, name: string): void;
  /** What the address should say from now on. */
  writeAddress(values: ReadonlyMap<string, string>): void;
}

export type LensStore = ReturnType<typeof createLensStore>;

/** What the lens must know of a task beyond the record. */
export type SourceOf = (batch: BatchRecord) => LensSource;

export function createLensStore(sourceOf: SourceOf) {
  return createStore<LensState>()((set) => ({
    view: 'train',
    frozen: null,
    address: new Map(),
    addressRead: 0,
    open: (view) => set({ view }),
    freeze: (batch) => set({ view: 'lens', frozen: { source: sourceOf(batch), origin: { kind: 'run' } } }),
    importBatch: (source, name) => set({ view: 'lens', frozen: { source, origin: { kind: 'file', name } } }),
    writeAddress: (address) => set({ address }),
  }));
}

const OWN_PREFIX = 'lens';

/** `view=lens` and the lens's settings in the address. */
export function lensAddress(store: LensStore): AddressPart {
  return {
    owns: (name) => name === 'view' || name.startsWith(OWN_PREFIX),
    read(values) {
      const { address, addressRead } = store.getState();
      const settings = new Map([...values].filter(([name]) => name !== 'view'));
      const isSame = settings.size === address.size && [...settings].every(([name, value]) => address.get(name) === value);
      store.setState({ view: values.get('view') === 'lens' ? 'lens' : 'train', ...(isSame ? {} : { address: settings, addressRead: addressRead + 1 }) });
    },
    write() {
      const { view, address } = store.getState();
      if (view !== 'lens') return '';
      return [['view', 'lens'] as const, ...address].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    },
    subscribe: (listener) => store.subscribe((state, before) => {
      if (state.view !== before.view || state.address !== before.address) listener();
    }),
  };
}
