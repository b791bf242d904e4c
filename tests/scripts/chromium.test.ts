import { existsSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CHROMIUM_ARGS, dawnEnvironment, findChromium } from '../../scripts/lib/chromium.mjs';

afterEach(() => vi.unstubAllEnvs());

describe('browser and drivers', () => {
  test('CHROMIUM_PATH decides, and a wrong one is not silently replaced', () => {
    vi.stubEnv('CHROMIUM_PATH', process.execPath);
    expect(findChromium()).toBe(process.execPath);
    vi.stubEnv('CHROMIUM_PATH', '/no/such/browser');
    expect(findChromium()).toBeNull();
  });

  test('a driver that the person chose is left alone', () => {
    vi.stubEnv('VK_ICD_FILENAMES', '/somewhere/icd.json');
    expect(dawnEnvironment()).toEqual({});
  });

  test('names a driver that is there', () => {
    vi.stubEnv('VK_ICD_FILENAMES', '');
    const { VK_ICD_FILENAMES: driver } = dawnEnvironment();
    expect(process.platform !== 'linux' || (driver !== undefined && existsSync(driver))).toBe(true);
  });

  test('the browser is asked for WebGPU and nothing that talks to the network', () => {
    expect(CHROMIUM_ARGS).toEqual(expect.arrayContaining(['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--disable-background-networking']));
  });
});
