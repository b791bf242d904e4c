import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../helpers/axe';
import { launchChromium, ratioscope, serveDist, watch, type PageProblems } from '../helpers/chromium';

/** A person takes GRPO apart in the real page: sets both levels, trains, looks at the batch in the lens. The tests build on each other. */
let browser: Browser;
let page: Page;
let problems: PageProblems;
let site: { url: string; close: () => void };

const START = 'preset=grpo&model=small&seed=5&totalSteps=4&prompts=8&evalEvery=0';

const dial = (label: string) => page.getByRole('radiogroup', { name: label });
const ratioDial = (level: string) => dial('Ratio that weighs the advantage').getByRole('radio', { name: level });
const clipDial = (level: string) => dial('Ratio that is clipped').getByRole('radio', { name: level });
const warnings = () => page.locator('.rail').getByRole('status').allInnerTexts();
const objective = async () => (await ratioscope.snapshot(page)).config.objective;
/** Every number that an iteration reported, times aside. */
const numbers = async () => {
  const { report } = await ratioscope.snapshot(page);
  return report && { reward: report.reward, updates: report.updates.map(({ metrics, gradNorm }) => ({ metrics, gradNorm })) };
};

beforeAll(async () => {
  site = await serveDist();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  problems = watch(page, site.url);
  await page.goto(`${site.url}#${START}`);
  await ratioscope.ready(page);
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('mixing by hand', () => {
  let asGspo: Awaited<ReturnType<typeof numbers>>;

  test('begins with what GSPO does, to compare with', async () => {
    await page.getByRole('radio', { name: 'GSPO', exact: true }).click();
    await ratioscope.step(page, 2);
    asGspo = await numbers();
    expect(asGspo?.updates.length).toBe(4);
    await page.getByRole('radio', { name: 'GRPO', exact: true }).click();
    await ratioscope.reset(page);
  });

  test('two dials say which ratio weighs and which is clipped; a bad mixture is said in words, a good one is not', async () => {
    await page.getByText('Mix by hand').click();
    expect([await ratioDial('token').getAttribute('aria-checked'), await clipDial('token').getAttribute('aria-checked')]).toEqual(['true', 'true']);
    const before = await clipDial('sequence').boundingBox();
    await clipDial('sequence').click();
    expect(await objective()).toBe('grpo@token/sequence');
    expect(await warnings()).toEqual([expect.stringMatching(/only the answer’s mean is held in a band/)]);
    // The dials stay where they are when a warning comes.
    expect(await clipDial('sequence').boundingBox()).toEqual(before);
    expect(await page.locator('.formula-head h2').innerText()).toBe('GRPO mixed as it runs');
    expect(await page.getByLabel('Formula of GRPO, token ratio, sequence clip').innerText()).toMatch(/a token loses its gradient where the ratio of its sequence has left the band/);
    expect(await axeFindings(page)).toEqual([]);
    await ratioDial('token').focus();
    await page.keyboard.press('End');
    expect(await objective()).toBe('grpo@sequence');
    expect(await warnings()).toEqual([]);
  });

  test('the sliders, the rulers and the deck say what is in use', async () => {
    expect(await page.locator('.eps-row', { hasText: 'in use' }).allInnerTexts()).toEqual([expect.stringMatching(/^Sequence/)]);
    expect(await page.locator('.rulers').innerText()).toMatch(/mixed\s+ε \.01, in use/);
    expect(await page.getByRole('radio', { name: 'GRPO', exact: true }).getAttribute('aria-checked')).toBe('true');
    await expect.poll(() => new URL(page.url()).hash).toContain('objective=grpo%40sequence&');
  });

  test('GRPO with both levels at the sequence trains as GSPO does, to the last bit', async () => {
    await ratioscope.step(page, 2);
    expect((await ratioscope.snapshot(page)).report?.objective).toBe('grpo@sequence');
    expect(await numbers()).toEqual(asGspo);
  });

  test('levels can be changed while it runs, and the lens gives the mixture a row of its own', async () => {
    await clipDial('token').click();
    await ratioscope.step(page, 1);
    expect((await ratioscope.snapshot(page)).report?.objective).toBe('grpo@sequence/token');
    await page.locator('[data-row][data-token="3"]').first().click();
    const inspector = page.getByRole('region', { name: 'One token' });
    await expect.poll(() => inspector.innerText()).toMatch(/Token ratio [\d.]+ is .*(A weighs by the sequence ratio [\d.]+|whatever the sequence ratio)\.|A = 0: no gradient\./);
    await page.getByText('Freeze this batch in the lens').click();
    await page.getByRole('rowheader', { name: /GRPO, sequence ratio, token clip/ }).waitFor();
    expect(await page.getByRole('rowheader').allInnerTexts()).toEqual(expect.arrayContaining(['GRPO', 'GSPO']));
    await page.getByRole('link', { name: 'Train', exact: true }).click();
  });

  test('one press leads back, an objective without a plain band has no dials, and an address brings a mixture', async () => {
    await page.getByText('Mix by hand').waitFor();
    const back = page.getByRole('button', { name: 'back to GRPO’s own levels' });
    if (!(await back.isVisible())) await page.getByText('Mix by hand').click();
    await back.click();
    expect(await objective()).toBe('grpo');
    expect(await back.isVisible()).toBe(false);
    await page.getByRole('combobox', { name: 'More', exact: true }).selectOption({ label: 'CISPO' });
    expect(await dial('Ratio that is clipped').count()).toBe(0);
    expect(await page.locator('.rail').innerText()).toContain('CISPO is no plain clipped surrogate');
    await page.goto(`${site.url}?again#preset=sppo&model=small&ratioLevel=segment&clipLevel=segment`);
    await ratioscope.ready(page);
    expect(await objective()).toBe('sppo@segment');
    expect(problems).toEqual({ errors: [], foreign: [] });
  });
});
