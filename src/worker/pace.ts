/** What a wait between iterations needs of the outside. */
export interface PaceClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** The speed limit: a wait between iterations that a command can end. */
export class Pace {
  private readonly clock: PaceClock;
  private wake: (() => void) | null = null;

  constructor(clock: PaceClock) {
    this.clock = clock;
  }

  /** Ends a wait early, so that whoever waits looks at the settings anew. */
  wakeUp(): void {
    this.wake?.();
  }

  /**
   * Waits until an iteration that began at `began` (ms) has taken 1000 / speed(). No debt is kept: after a slept laptop the next
   * iteration comes at once and the one after it in its own time. Without a limit (0) it only lets messages in.
   */
  async rest(began: number, speed: () => number, wanted: () => boolean): Promise<void> {
    await this.clock.sleep(0);
    for (;;) {
      const limit = speed();
      const left = limit > 0 ? 1000 / limit - (this.clock.now() - began) : 0;
      if (left <= 0 || !wanted()) return;
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await Promise.race([this.clock.sleep(left), woken]);
      this.wake = null;
    }
  }
}
