import { configToHash, hashToConfig, type Decoded } from '../config/codec';
import type { ConfigStore } from './configStore';

/** The part of `window` that the address needs; a stand-in serves in tests. */
export interface AddressBar {
  location: { hash: string; href: string };
  history: { replaceState(data: unknown, unused: string, url: string): void };
  addEventListener(type: 'hashchange', listener: () => void): void;
  removeEventListener(type: 'hashchange', listener: () => void): void;
}

/** A part of the page that keeps values of its own in the address, beside the run's configuration. */
export interface AddressPart {
  /** True for the names that are this part's. */
  owns(name: string): boolean;
  /** Takes the values that the address holds under those names; bad ones are left out. */
  read(values: ReadonlyMap<string, string>): void;
  /** "name=value&..." of what differs from the usual; '' when nothing does. */
  write(): string;
  subscribe(listener: () => void): () => void;
}

/** The hash in two: the run's configuration, and the values that belong to a part. */
function splitHash(hash: string, part: AddressPart | undefined): { config: string; own: Map<string, string> } {
  const own = new Map<string, string>();
  const rest = hash.replace(/^#/, '').split('&').filter((piece) => {
    const [name = '', value = ''] = piece.split(/=(.*)/s);
    if (!part?.owns(name)) return true;
    try {
      own.set(name, decodeURIComponent(value));
    } catch {
      // A broken escape says nothing that could be restored.
    }
    return false;
  });
  return { config: rest.join('&'), own };
}

const hashOf = (store: ConfigStore, part?: AddressPart): string => [configToHash(store.getState().config), part?.write() ?? ''].filter(Boolean).join('&');

/** The configuration that the address asks for. Until the adapter is known a nameless model is `small`. */
export function readAddress(bar: Pick<AddressBar, 'location'>, part?: AddressPart): Decoded {
  const { config, own } = splitHash(bar.location.hash, part);
  part?.read(own);
  return hashToConfig(config, 'small');
}

/** The whole address of the present configuration, for "Copy link". */
export function linkTo(bar: Pick<AddressBar, 'location'>, store: ConfigStore, part?: AddressPart): string {
  return `${bar.location.href.split('#')[0]}#${hashOf(store, part)}`;
}

/**
 * Keeps hash and settings equal in both directions: a change of a setting rewrites the hash (without a history entry),
 * a hash typed by hand or by "back" becomes the settings. Returns a function that stops it.
 */
export function bindAddress(bar: AddressBar, store: ConfigStore, part?: AddressPart): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const write = () => {
    timer = null;
    const hash = `#${hashOf(store, part)}`;
    if (hash !== bar.location.hash) bar.history.replaceState(null, '', hash);
  };
  // Browsers refuse more than about a hundred replaceState calls in ten seconds: a dragged slider must not write each move.
  const schedule = () => {
    timer ??= setTimeout(write, 250);
  };
  const unsubscribe = store.subscribe((state, before) => {
    if (state.config !== before.config) schedule();
  });
  const unsubscribePart = part?.subscribe(schedule);
  const onHash = () => {
    const { config, own } = splitHash(bar.location.hash, part);
    part?.read(own);
    const decoded = hashToConfig(config, store.getState().config.model);
    store.getState().patch({ ...decoded.config });
    store.getState().notify(decoded.problems.map((problem) => problem.message));
    schedule();
  };
  bar.addEventListener('hashchange', onHash);
  schedule();
  return () => {
    if (timer !== null) clearTimeout(timer);
    unsubscribe();
    unsubscribePart?.();
    bar.removeEventListener('hashchange', onHash);
  };
}
