import { expect, test } from 'vitest';
import { launchChromium, ratioscope, serveDist } from '../helpers/chromium';

const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;

test('GRPO, small, seed 1: the bad habit is gone within 30 steps', { timeout: 600_000 }, async () => {
  const site = await serveDist();
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${site.url}#preset=grpo&model=small&seed=1`);
    await ratioscope.ready(page);
    const began = Date.now();
    await ratioscope.step(page, 30);
    const elapsed = (Date.now() - began) / 1000;
    const { reward, adapter, report, base } = await ratioscope.snapshot(page);
    const curve = reward.map((point) => point.reward);
    console.log(`GRPO small seed 1 on ${[adapter?.vendor, adapter?.architecture, adapter?.description].filter(Boolean).join(' / ')}: ${curve.map((r) => r.toFixed(2)).join(' ')}; ${(30 / elapsed).toFixed(2)} steps/s, ${report?.tokensPerSecond.toFixed(0)} sampled tokens/s`);
    expect(curve.length).toBe(30);
    // The base policy, measured on 512 held-out prompts; and the first batch, whose 128 answers scatter by .043 (one
    // standard error) around the same rate.
    expect(base?.passRate).toBeLessThanOrEqual(0.42);
    expect(curve[0]).toBeLessThanOrEqual(0.42);
    expect(mean(curve.slice(24))).toBeGreaterThanOrEqual(0.8);
  } finally {
    await browser.close();
    site.close();
  }
});
