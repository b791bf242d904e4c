import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { objectivesMarkdown } from '../../cli/objectivesDoc';
import { ROOT } from '../../scripts/lib/paths.mjs';

it('docs/objectives.md says what the definitions say (npm run -s ratioscope -- eval --list --markdown > docs/objectives.md)', () => {
  expect(readFileSync(join(ROOT, 'docs/objectives.md'), 'utf8')).toBe(objectivesMarkdown());
});
