import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { presetConfig } from '../../src/config/presets';
import type { RunConfig } from '../../src/config/runConfig';
import { isCommand, isEvent, isEventList } from '../../src/worker/guards';
import type { WorkerCommand, WorkerEvent } from '../../src/worker/protocol';
import { Runner } from '../../src/worker/runner';
import { FakeEnvironment } from '../helpers/fakeEnvironment';
import { DAMAGE, damaged, ODD } from '../helpers/mutate';

/** What crosses between page and worker, damaged: a guard answers yes or no, and the worker never falls over or stands still. */

const RUNS = { seed: 20261204, numRuns: 1000 };
const config: RunConfig = { ...presetConfig('grpo', 'small'), prompts: 2, groupSize: 2, minibatches: 2, totalSteps: 3, evalEvery: 2, evalPrompts: 8 };

const COMMANDS: WorkerCommand[] = [
  { type: 'probe' }, { type: 'init', config, modelsUrl: 'models/' }, { type: 'engine', engine: 'tfjs' }, { type: 'configure', patch: { epochs: 2, objective: 'sspo' } },
  { type: 'play' }, { type: 'pause' }, { type: 'step', count: 1 }, { type: 'reset', config }, { type: 'rewind' }, { type: 'snapshot', requestId: 1 },
  { type: 'inspectLoss', requestId: 2, objective: 'gspo', customObjective: '' }, { type: 'loseDevice' }, { type: 'poison' },
];

/** A worker outside a browser, with everything that it posted. */
function worker(): { runner: Runner; events: WorkerEvent[]; odd: unknown[] } {
  const events: WorkerEvent[] = [];
  const odd: unknown[] = [];
  const runner = new Runner(new FakeEnvironment(), (list) => {
    const crossed: unknown = structuredClone(list);
    if (isEventList(crossed)) events.push(...crossed);
    else odd.push(crossed);
  });
  return { runner, events, odd };
}

const settle = async (runner: Runner): Promise<void> => {
  await runner.idle();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await runner.idle();
};

/** Every kind of event that a short run sends. */
async function realEvents(): Promise<WorkerEvent[]> {
  const { runner, events } = worker();
  for (const command of COMMANDS.filter(({ type }) => ['probe', 'init', 'inspectLoss'].includes(type))) runner.handle(command);
  await settle(runner);
  runner.handle({ type: 'step', count: 2 });
  await settle(runner);
  runner.handle({ type: 'configure', patch: { epochs: 2, minibatches: 3 } });
  runner.handle({ type: 'snapshot', requestId: 3 });
  runner.handle('nonsense');
  await settle(runner);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const kinds = new Map(events.map((event) => [event.type, event]));
  return [...kinds.values()];
}

describe('1,000 damaged messages', () => {
  it('are answered yes or no by the guards of commands', () => {
    let refused = 0;
    fc.assert(fc.property(fc.constantFrom(...COMMANDS), DAMAGE, (command, damage) => {
      const message = damaged(command, damage);
      const taken = isCommand(message);
      if (!taken) refused++;
      // What is taken has every field that its kind has, in the kind of value that it has.
      else if (message.type === command.type) for (const [key, value] of Object.entries(command)) expect(typeof message[key as keyof typeof message], key).toBe(typeof value);
    }), RUNS);
    expect(refused).toBeGreaterThan(600);
    fc.assert(fc.property(ODD, (value) => !isCommand(value) && !isEvent(value)), RUNS);
  });

  it('are answered yes or no by the guards of events', async () => {
    const events = await realEvents();
    expect(events.map((event) => event.type).sort()).toEqual(expect.arrayContaining(['base', 'capability', 'checkpoint', 'config', 'error', 'eval', 'lossInspected', 'phase', 'snapshot', 'step']));
    for (const event of events) expect(isEvent(event), event.type).toBe(true);
    let refused = 0;
    fc.assert(fc.property(fc.constantFrom(...events), DAMAGE, (event, damage) => {
      if (!isEvent(damaged(event, damage))) refused++;
    }), RUNS);
    expect(refused).toBeGreaterThan(500);
  });

  it('leave the worker on its feet: every one is done or answered with an error, and a run can follow', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    let handled = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...COMMANDS), fc.option(DAMAGE, { freq: 3 })), { minLength: 10, maxLength: 10 }), async (script) => {
          const { runner, events, odd } = worker();
          for (const [command, damage] of script) {
            const message = damage ? damaged(command, damage) : command;
            // A goal of a thousand million iterations is a wish, not a fault; a poisoned policy must stop the run that follows.
            if (isCommand(message) && (message.type === 'poison' || (message.type === 'step' && message.count > 5))) continue;
            runner.handle(message);
            handled++;
            if (handled % 3 === 0) await Promise.resolve();
          }
          runner.handle({ type: 'pause' });
          await settle(runner);
          runner.handle({ type: 'init', config, modelsUrl: 'models/' });
          await settle(runner);
          runner.handle({ type: 'step', count: 1 });
          await settle(runner);
          await new Promise((resolve) => setTimeout(resolve, 60));
          expect(odd).toEqual([]);
          const last = events.filter((event) => event.type === 'step').at(-1);
          expect(last?.report.step).toBe(1);
          expect(Number.isFinite(last?.report.reward)).toBe(true);
        }),
        { seed: 20261205, numRuns: 100 },
      );
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(handled).toBeGreaterThan(900);
    expect(rejections).toEqual([]);
  }, 60_000);
});
