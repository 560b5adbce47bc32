/** Lets only so many pieces of work on one host run at a time; the others wait their turn. */
export class HostLimit {
  readonly #most: number;
  readonly #hosts = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param url its host counts; one that cannot be read counts as a host of its own */
  async run<Value>(url: string, work: () => Promise<Value>): Promise<Value> {
    const key = URL.canParse(url) ? new URL(url).host : url;
    const host = this.#hosts.get(key) ?? { running: 0, waiting: [] };
    this.#hosts.set(key, host);
    if (host.running < this.#most) host.running++;
    // Whoever ends hands its place over, so `running` stays as it is.
    else await new Promise<void>((resolve) => host.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = host.waiting.shift();
      if (next !== undefined) next();
      else if (--host.running === 0) this.#hosts.delete(key);
    }
  }
}
