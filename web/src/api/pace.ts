/** Gathers what comes often and hands it on at a pace: at once after a pause, then no more often than every `ms`. */
export class Pace<T> {
  private waiting = new Set<T>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private last = -Infinity;

  constructor(private readonly ms: number, private readonly handOn: (all: T[]) => void) {}

  add(all: Iterable<T>): void {
    for (const one of all) this.waiting.add(one);
    if (this.waiting.size === 0) return;
    this.timer ??= setTimeout(() => this.flush(), Math.max(0, this.last + this.ms - performance.now()));
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private flush(): void {
    this.timer = null;
    this.last = performance.now();
    const all = [...this.waiting];
    this.waiting = new Set();
    this.handOn(all);
  }
}
