// @ts-check
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Where the built page lies. */
export const DIST = join(ROOT, 'dist');
/** Scratch files of the scripts (ignored by git). */
export const CACHE = join(ROOT, '.cache');
