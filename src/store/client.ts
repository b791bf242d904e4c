import { TrainerClient } from '../worker/client';
import type { TrainerLink } from './connect';

/** The way to the training worker; it starts with the first command. `search`: the address's query; `engine=tfjs` trains without WebGPU. */
export function createTrainerClient(search = ''): TrainerLink {
  const engine = new URLSearchParams(search).get('engine');
  return new TrainerClient(undefined, engine === 'tfjs' ? [{ type: 'engine', engine }] : []);
}
