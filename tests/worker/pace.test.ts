import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/worker/pace';

/** A clock that only moves when someone sleeps, or when the laptop does. */
class Clock {
  time = 0;
  readonly slept: number[] = [];
  /** Extra time that the next sleep takes: a lid that is closed. */
  lid = 0;

  now = (): number => this.time;

  sleep = (ms: number): Promise<void> => {
    if (ms > 0) this.slept.push(ms);
    this.time += ms + (ms > 0 ? this.lid : 0);
    if (ms > 0) this.lid = 0;
    return Promise.resolve();
  };
}

/** So many iterations that take `work` ms each; when each began. */
async function run(clock: Clock, iterations: number, speed: number, work = 10): Promise<number[]> {
  const pace = new Pace(clock);
  const begun: number[] = [];
  for (let i = 0; i < iterations; i++) {
    begun.push(clock.time);
    clock.time += work;
    await pace.rest(begun[i]!, () => speed, () => true);
  }
  return begun;
}

describe('the speed limit', () => {
  it('waits out what is left of an iteration’s time, and nothing without a limit', async () => {
    expect(await run(new Clock(), 4, 4)).toEqual([0, 250, 500, 750]);
    expect(await run(new Clock(), 4, 0)).toEqual([0, 10, 20, 30]);
    expect(await run(new Clock(), 3, 4, 400)).toEqual([0, 400, 800]);
  });

  it('runs up no debt over an hour of sleep: the next iteration comes at once, those after it in their own time', async () => {
    const clock = new Clock();
    clock.lid = 3_600_000;
    const begun = await run(clock, 4, 4);
    expect(begun).toEqual([0, 3_600_250, 3_600_500, 3_600_750]);
    expect(clock.slept).toEqual([240, 240, 240, 240]);
  });

  it('ends a wait when it is woken and nobody wants another iteration', async () => {
    let [wanted, woken] = [true, false];
    const pace = new Pace({ now: () => 0, sleep: (ms) => (ms > 0 ? new Promise(() => {}) : Promise.resolve()) });
    const rest = pace.rest(0, () => 1, () => wanted).then(() => {
      woken = true;
    });
    await new Promise((resolve) => setTimeout(resolve));
    expect(woken).toBe(false);
    wanted = false;
    pace.wakeUp();
    await rest;
    expect(woken).toBe(true);
  });
});
