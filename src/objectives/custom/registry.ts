import { buildObjective, customId, type CustomObjective } from './build';
import { ObjectiveTextError } from './errors';

/**
 * The custom objectives of this page or worker, by id. Whoever takes in a configuration with a text registers it first, so that
 * everything after it can ask for the objective by id, as for a built-in.
 */

/** Longest text of a configuration, characters: a link must hold it. */
export const MAX_TEXT = 6000;
/** Readings kept, so that a text that is checked again and again is read once. */
const MAX_KEPT = 200;

const readings = new Map<string, CustomObjective | ObjectiveTextError>();
const registered = new Map<string, CustomObjective>();

/** Reads a text, once. Throws ObjectiveTextError. */
export function readCustom(text: string): CustomObjective {
  let reading = readings.get(text);
  if (!reading) {
    try {
      reading = buildObjective(text);
      if (text.length > MAX_TEXT) throw new ObjectiveTextError(text, { start: MAX_TEXT, end: text.length }, `the text has ${text.length} characters; a link can hold ${MAX_TEXT}.`, 'Shorten the help texts and comments.');
    } catch (error) {
      if (!(error instanceof ObjectiveTextError)) throw error;
      reading = error;
    }
    if (readings.size >= MAX_KEPT) readings.delete(readings.keys().next().value as string);
    readings.set(text, reading);
  }
  if (reading instanceof ObjectiveTextError) throw reading;
  return reading;
}

/** Reads a text and makes its objective known by its id. Throws ObjectiveTextError. */
export function registerCustom(text: string): CustomObjective {
  const known = registered.get(customId(text));
  if (known?.text === text) return known;
  const custom = readCustom(text);
  registered.set(custom.objective.id, custom);
  return custom;
}

/** The registered objective with this id, or undefined. */
export const registeredCustom = (id: string): CustomObjective | undefined => registered.get(id);
