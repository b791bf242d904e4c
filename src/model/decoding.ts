/** What the decoder and its two ways of decoding share. */

export interface DecodeRequest {
  rows: number;
  promptLength: number;
  maxNewTokens: number;
  eos: number;
  temperature: number;
  greedy: boolean;
  seed: number;
  iteration: number;
}

/** What both ways of decoding share: see the kernels for the contents. */
export interface DecoderBuffers {
  tokens: GPUBuffer;
  logpEntropy: GPUBuffer;
  alive: GPUBuffer;
  /** One uniform of 256 bytes for each position t: (t, first position of the next submit). */
  step: GPUBuffer;
  limits: GPUBuffer;
  key: GPUBuffer;
}

/** Encodes the positions first .. end - 1 of a rollout. */
export type EncodeSpan = (pass: GPUComputePassEncoder, request: DecodeRequest, first: number, end: number) => void;

/** Bytes between two entries of `step`. */
export const STEP_STRIDE = 256;
