import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { createConfigStore } from '../../src/store/configStore';
import { bindAddress, linkTo, readAddress, type AddressBar } from '../../src/store/urlState';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function bar(hash = ''): AddressBar & { writes: number; type(hash: string): void } {
  const listeners = new Set<() => void>();
  const fake = {
    writes: 0,
    location: { hash, href: `https://example.org/page/${hash}` },
    history: {
      replaceState(_data: unknown, _unused: string, url: string) {
        fake.writes++;
        fake.location.hash = url;
        fake.location.href = `https://example.org/page/${url}`;
      },
    },
    addEventListener: (_: 'hashchange', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_: 'hashchange', listener: () => void) => void listeners.delete(listener),
    type(next: string) {
      fake.location.hash = next;
      for (const listener of listeners) listener();
    },
  };
  return fake;
}

test('a link reproduces the whole configuration', () => {
  const store = createConfigStore({ ...presetConfig('squeeze', 'main'), seed: 11, clipHighToken: 0.28, samplerPrecision: 'e5m2' });
  const link = linkTo(bar(), store);
  const { config, problems } = readAddress(bar(link.slice(link.indexOf('#'))));
  expect(problems).toEqual([]);
  expect(config).toEqual(store.getState().config);
});

test('a burst of changes writes the address once', () => {
  const address = bar();
  const store = createConfigStore(presetConfig('grpo', 'small'));
  const stop = bindAddress(address, store);
  vi.advanceTimersByTime(1000);
  address.writes = 0;
  for (let i = 0; i < 50; i++) store.getState().patch({ clipLowToken: 0.1 + i / 1000 });
  vi.advanceTimersByTime(1000);
  expect(address.writes).toBe(1);
  expect(address.location.hash).toContain('clipLowToken=0.149');
  stop();
});

test('a hash typed by hand becomes the settings, bad values with a notice', () => {
  const address = bar();
  const store = createConfigStore(presetConfig('grpo', 'small'));
  const stop = bindAddress(address, store);
  address.type('#preset=gspo&model=small&seed=4&epochs=99');
  const { config, notices } = store.getState();
  expect([config.objective, config.seed, config.epochs]).toEqual(['gspo', 4, 8]);
  expect(notices.length).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(address.location.hash).toContain('epochs=8');
  stop();
  address.type('#preset=grpo&model=small&seed=9');
  expect(store.getState().config.seed).toBe(4);
});
