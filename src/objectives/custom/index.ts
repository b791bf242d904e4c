export { buildObjective, customId, isCustomId, type CustomObjective } from './build';
export { checkBatch, checkDifferences, type DifferenceCheck } from './check';
export { ObjectiveTextError, type Span } from './errors';
export { parseObjective, type ParsedObjective } from './parser';
export { printExpression, printObjective } from './print';
export { MAX_TEXT, readCustom, registerCustom, registeredCustom } from './registry';
export { MAX_NODES } from './scope';
export { tokenize } from './tokenizer';
export { FUNCTIONS, LEAVES, LEVEL_WORDS, STATEMENTS } from './vocabulary';
