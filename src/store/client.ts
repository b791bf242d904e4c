import { TrainerClient } from '../worker/client';
import type { TrainerLink } from './connect';

/** The way to the training worker; it starts with the first command. */
export function createTrainerClient(): TrainerLink {
  return new TrainerClient();
}
