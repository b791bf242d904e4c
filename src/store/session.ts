import { TASKS } from '../tasks';
import { createApi, type RatioscopeApi } from './api';
import { createConfigStore, type ConfigStore } from './configStore';
import { connect, type RunControl, type TrainerLink } from './connect';
import { createLensStore, lensAddress, type LensStore } from './lensStore';
import { createRunStore, type RunStore } from './runStore';
import { bindAddress, readAddress, type AddressBar, type AddressPart } from './urlState';

/** Everything that one page holds: its stores, the way to the worker, and the scripting interface. */
export interface Session {
  config: ConfigStore;
  run: RunStore;
  /** Which page is open, and the batch under the lens. */
  lens: LensStore;
  /** What the address holds beside the run's settings. */
  addressPart: AddressPart;
  control: RunControl;
  api: RatioscopeApi;
  dispose(): void;
}

/** Builds a session from an address and a client. `modelsUrl` is the folder of the base policies, ending in '/'. */
export function createSession(bar: AddressBar, client: TrainerLink, modelsUrl: string): Session {
  const lens = createLensStore((record) => {
    const task = TASKS.find(({ id }) => id === record.config.task);
    return { record, maxTokens: task?.maxNewTokens ?? null, eos: task?.eos ?? null };
  });
  const addressPart = lensAddress(lens);
  const decoded = readAddress(bar, addressPart);
  const config = createConfigStore(decoded.config, decoded.problems);
  const run = createRunStore();
  const control = connect({ client, config, run, modelsUrl, modelGiven: decoded.modelGiven });
  const unbind = bindAddress(bar, config, addressPart);
  return {
    config,
    run,
    lens,
    addressPart,
    control,
    api: createApi(config, run, control),
    dispose() {
      unbind();
      control.dispose();
    },
  };
}
