import { createApi, type RatioscopeApi } from './api';
import { createConfigStore, type ConfigStore } from './configStore';
import { connect, type RunControl, type TrainerLink } from './connect';
import { createRunStore, type RunStore } from './runStore';
import { bindAddress, readAddress, type AddressBar } from './urlState';

/** Everything that one page holds: its stores, the way to the worker, and the scripting interface. */
export interface Session {
  config: ConfigStore;
  run: RunStore;
  control: RunControl;
  api: RatioscopeApi;
  dispose(): void;
}

/** Builds a session from an address and a client. `modelsUrl` is the folder of the base policies, ending in '/'. */
export function createSession(bar: AddressBar, client: TrainerLink, modelsUrl: string): Session {
  const decoded = readAddress(bar);
  const config = createConfigStore(decoded.config, decoded.problems);
  const run = createRunStore();
  const control = connect({ client, config, run, modelsUrl, modelGiven: decoded.modelGiven });
  const unbind = bindAddress(bar, config);
  return {
    config,
    run,
    control,
    api: createApi(config, run, control),
    dispose() {
      unbind();
      control.dispose();
    },
  };
}
