import { configToHash, hashToConfig, type Decoded } from '../config/codec';
import type { ConfigStore } from './configStore';

/** The part of `window` that the address needs; a stand-in serves in tests. */
export interface AddressBar {
  location: { hash: string; href: string };
  history: { replaceState(data: unknown, unused: string, url: string): void };
  addEventListener(type: 'hashchange', listener: () => void): void;
  removeEventListener(type: 'hashchange', listener: () => void): void;
}

/** The configuration that the address asks for. Until the adapter is known a nameless model is `small`. */
export function readAddress(bar: Pick<AddressBar, 'location'>): Decoded {
  return hashToConfig(bar.location.hash, 'small');
}

/** The whole address of the present configuration, for "Copy link". */
export function linkTo(bar: Pick<AddressBar, 'location'>, store: ConfigStore): string {
  return `${bar.location.href.split('#')[0]}#${configToHash(store.getState().config)}`;
}

/**
 * Keeps hash and settings equal in both directions: a change of a setting rewrites the hash (without a history entry),
 * a hash typed by hand or by "back" becomes the settings. Returns a function that stops it.
 */
export function bindAddress(bar: AddressBar, store: ConfigStore): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const write = () => {
    timer = null;
    const hash = `#${configToHash(store.getState().config)}`;
    if (hash !== bar.location.hash) bar.history.replaceState(null, '', hash);
  };
  // Browsers refuse more than about a hundred replaceState calls in ten seconds: a dragged slider must not write each move.
  const schedule = () => {
    timer ??= setTimeout(write, 250);
  };
  const unsubscribe = store.subscribe((state, before) => {
    if (state.config !== before.config) schedule();
  });
  const onHash = () => {
    const decoded = hashToConfig(bar.location.hash, store.getState().config.model);
    store.getState().patch({ ...decoded.config });
    store.getState().notify(decoded.problems.map((problem) => problem.message));
    schedule();
  };
  bar.addEventListener('hashchange', onHash);
  schedule();
  return () => {
    if (timer !== null) clearTimeout(timer);
    unsubscribe();
    bar.removeEventListener('hashchange', onHash);
  };
}
