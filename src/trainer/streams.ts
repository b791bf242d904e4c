/**
 * Second part of every random key, after the seed: what the numbers are for. Kept in one place so that no two uses share
 * a stream.
 */
export const STREAM = { prompts: 1, rewardShuffle: 2, minibatchRows: 3, critic: 4 } as const;

/** Key of the held-out prompts: the same for every seed, so that runs are judged on the same questions. */
export const EVALUATION_KEY = 0x6576616c;
