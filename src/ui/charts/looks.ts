import type { Level } from '../../core/levels';
import { getObjective } from '../../objectives';
import { setting } from '../theme/numbers';

/** How the page names an objective where there is little room. */
export { shortTitle as objectiveTitle } from '../../objectives';

/** The custom property that holds a level's hue (theme/tokens.css). */
export const LEVEL_HUE: Record<Level, string> = { token: '--level-token', segment: '--level-sub', sequence: '--level-seq' };

/** A level's hue as a CSS value. */
export function levelColour(level: Level): string {
  return `var(${LEVEL_HUE[level]})`;
}

/** The objective whose clip stands at each level when another one trains. */
const LEVEL_OBJECTIVE: Record<Level, string> = { token: 'grpo', segment: 'sspo', sequence: 'gspo' };

/** Which objective names a level's band: the one in use at its own level, else the level's usual one. */
export function objectiveAt(level: Level, inUse: string): string {
  return ratioLevel(inUse) === level ? inUse : LEVEL_OBJECTIVE[level];
}

/** The level at which an objective forms (and clips) its ratio. */
export function ratioLevel(objective: string): Level {
  return getObjective(objective).importanceSamplingLevel;
}

/** "ε .2", or "ε 3e−4/4e−4" when the two widths differ; three digits, for widths that were computed. */
export function widthLabel(width: { low: number; high: number }): string {
  const [low, high] = [width.low, width.high].map((x) => setting(Number(x.toPrecision(3))));
  return low === high ? `ε ${low}` : `ε ${low}/${high}`;
}
