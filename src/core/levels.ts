/** The three granularities at which an importance ratio is formed; every chart and metric shows all three. */
export const LEVELS = ['token', 'segment', 'sequence'] as const;
export type Level = (typeof LEVELS)[number];

/** What a reader sees for each level; code says `segment`, the page says "subsentence". */
export const LEVEL_TITLE: Record<Level, string> = { token: 'Token', segment: 'Subsentence', sequence: 'Sequence' };
