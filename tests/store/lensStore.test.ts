import { expect, test, vi } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import { createConfigStore } from '../../src/store/configStore';
import { createLensStore, lensAddress } from '../../src/store/lensStore';
import { bindAddress, linkTo, readAddress, type AddressBar } from '../../src/store/urlState';
import { fakeBatch } from '../visual/fakeData';

function bar(hash = ''): AddressBar & { fire(): void } {
  let listener = () => undefined as void;
  const location = { hash, get href() { return `http://x/${this.hash}`; } };
  return {
    location,
    history: { replaceState: (_data, _unused, url) => { location.hash = url; } },
    addEventListener: (_type, next) => { listener = next; },
    removeEventListener: () => undefined,
    fire: () => listener(),
  };
}

const stores = () => {
  const lens = createLensStore((record) => ({ record, maxTokens: 40, eos: ';' }));
  return { lens, part: lensAddress(lens), config: createConfigStore(presetConfig('grpo', 'small')) };
};

test('a batch that is frozen opens the lens and lies there as it was', () => {
  const { lens } = stores();
  const batch = fakeBatch(3, 'grpo', 2, 4);
  lens.getState().freeze(batch);
  expect(lens.getState().view).toBe('lens');
  expect(lens.getState().frozen?.source.record).toBe(batch);
  lens.getState().open('train');
  expect(lens.getState().frozen?.source.record).toBe(batch);
});

test('the address says the view and the settings of the lens only while it is open, and the run in any case', () => {
  const { lens, part, config } = stores();
  lens.getState().writeAddress(new Map([['lensRule', 'marks:.,;'], ['lensToken', '0.3']]));
  expect(linkTo(bar('#'), config, part)).not.toContain('lens');
  lens.getState().open('lens');
  const link = linkTo(bar('#'), config, part);
  expect(link).toContain('preset=grpo');
  const other = stores();
  const decoded = readAddress(bar(link.slice(link.indexOf('#'))), other.part);
  expect(decoded.problems).toEqual([]);
  expect(other.lens.getState().view).toBe('lens');
  expect([...other.lens.getState().address]).toEqual([['lensRule', 'marks:.,;'], ['lensToken', '0.3']]);
});

test('a broken escape in a lens value is left out, without harm to the rest', () => {
  const { lens, part } = stores();
  const decoded = readAddress(bar('#preset=gspo&view=lens&lensToken=%E0%A4%A&lensMin=2'), part);
  expect(decoded.config.preset).toBe('gspo');
  expect(decoded.problems).toEqual([]);
  expect([...lens.getState().address]).toEqual([['lensMin', '2']]);
});

test('opening the lens rewrites the hash; a hash without it goes back to Train', () => {
  vi.useFakeTimers();
  const { lens, part, config } = stores();
  const address = bar('#preset=grpo&model=small&seed=1');
  const stop = bindAddress(address, config, part);
  lens.getState().open('lens');
  vi.runAllTimers();
  expect(address.location.hash).toContain('view=lens');
  address.location.hash = '#preset=grpo&model=small&seed=1';
  address.fire();
  expect(lens.getState().view).toBe('train');
  stop();
  vi.useRealTimers();
});
