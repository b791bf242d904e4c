import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DIST } from '../../scripts/lib/paths.mjs';

/** Fails before anything starts when there is no built page to test. */
export default function setup(): void {
  if (!existsSync(join(DIST, 'index.html'))) throw new Error('dist/index.html is missing: run npm run build first');
}
