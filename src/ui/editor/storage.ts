import { OBJECTIVES } from '../../objectives';
import { printObjective } from '../../objectives/custom';

/** The text that a person worked on last, and files of it. */

const KEY = 'ratioscope.objective';

/** What a person finds who has written nothing yet. */
export const FIRST_TEXT = `# The loss of one token, minimised. Ctrl+Space lists what can be read and called.
title "My objective"
level token
aggregation seq-mean-token-mean
advantage groupMeanStd

param clipLow = 0.2 in 0..1 step 0.01 "Clip width below 1";
param clipHigh = 0.2 in 0..1 step 0.01 "Clip width above 1";
param softness = 0 in 0..1 step 0.05 "Share of the gradient that is kept outside the band";

let inside = clip(ratio, 1 - clipLow, 1 + clipHigh);
let surrogate = min(ratio * adv, inside * adv);
-(1 - softness) * surrogate - softness * ratio * adv
`;

/** Built-ins as text, to start from. */
export const STARTING_POINTS: readonly { value: string; label: string }[] = OBJECTIVES.map(({ id, title }) => ({ value: id, label: title }));

export function startingText(id: string): string {
  const objective = OBJECTIVES.find((o) => o.id === id);
  return objective ? printObjective(objective) : FIRST_TEXT;
}

export function recallText(): string {
  try {
    return localStorage.getItem(KEY) ?? FIRST_TEXT;
  } catch {
    return FIRST_TEXT;
  }
}

export function keepText(text: string): void {
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // Storage is blocked: the text lives as long as the dialog.
  }
}

/** Hands a text to the person as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
