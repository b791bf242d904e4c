// @ts-check
// Pictures of the built page for docs/screenshots: node scripts/screenshots.mjs [steps]. Needs npm run build and the test packages.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from './lib/chromium.mjs';
import { ROOT } from './lib/paths.mjs';
import { createStaticServer, listen } from './serve.mjs';

const VIEWS = /** @type {const} */ ([
  { name: 'desktop-dark', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'desktop-light', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'phone-dark', colorScheme: 'dark', width: 390, height: 844 },
]);

const steps = Number(process.argv[2] ?? 12);
const folder = join(ROOT, 'docs', 'screenshots');
mkdirSync(folder, { recursive: true });
const server = createStaticServer();
const port = await listen(server, 0);
const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: [...CHROMIUM_ARGS, '--headless=new'] });
for (const { name, colorScheme, width, height } of VIEWS) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, isMobile: width < 500, hasTouch: width < 500 });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/#preset=grpo&model=small&seed=1`);
  await page.evaluate('window.ratioscope.ready');
  if (name === 'desktop-light') await page.screenshot({ path: join(folder, `${name}-before.png`) });
  await page.evaluate(`window.ratioscope.step(${steps})`);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(`${name}: ${steps} steps`);
  await context.close();
}
await browser.close();
server.close();
