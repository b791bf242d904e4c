/** The ratio lens: what every objective would do with a stored batch. Pure functions over objectives; nothing is retrained. */
export { advantagesFor, advantageNote } from './advantage';
export { batchToJsonl, BATCH_FORMAT, parseBatch, type ParsedBatch } from './batchFile';
export { decodeLens, encodeLens, LENS_NAMES } from './codec';
export { objectiveAtLevel, worstTokens } from './columns';
export { EPSILON_GRID, namedWidths, type VariantKind } from './curves';
export { longerUnit, moveToken, WHAT_IF_LENGTHS } from './dilution';
export { explainToken } from './explain';
export { tableCsv } from './exportTable';
export { icicleOf } from './icicle';
export { lensBatch } from './prepare';
export { lengthScaling, measureSpread, WINDOW_LENGTHS } from './scaling';
export { segmentsOf, segmentsOfRow, startsOf } from './segmentRule';
export { LensSession } from './session';
export { hyperFor, isPlainBand, LENS_BOUNDS, lensSettingsOf, modeFor } from './settings';
export { TABLE_COLUMNS, tableColumn } from './table';
export { LensClient } from './worker/client';
export * from './types';
