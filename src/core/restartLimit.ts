/** So many restarts within so many ms are taken for a fault that would come again. */
const RESTARTS = 2;
const WITHIN_MS = 60_000;

/** How often something may be started again by itself: twice a minute, then it takes a person. */
export class RestartLimit {
  private at: number[] = [];

  /** True, and counted, while another try is worth it. `now`: ms of a clock that does not go back. */
  take(now: number): boolean {
    this.at = this.at.filter((time) => now - time < WITHIN_MS);
    if (this.at.length >= RESTARTS) return false;
    this.at.push(now);
    return true;
  }
}
