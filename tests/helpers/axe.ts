import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Everything that axe finds within a part of the page (the whole page without one), whatever its impact: rule, and where. */
export async function axeFindings(page: Page, within?: string): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async (selector) => {
    const { axe } = window as unknown as { axe: { run(context: string | Document): Promise<{ violations: Violation[]; passes: unknown[] }> } };
    const { violations: found, passes } = await axe.run(selector ?? document);
    if (passes.length === 0) throw new Error('axe looked at nothing');
    return found;
  }, within);
  return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary ?? ''})`).join(' | ')}`);
}
