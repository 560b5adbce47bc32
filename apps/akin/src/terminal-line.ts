/** One line that is redrawn on a terminal. Elsewhere, a new line every ten seconds. */
export class TerminalLine {
  readonly #out: NodeJS.WriteStream;
  readonly #text: (seconds: number) => string | undefined;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;

  /** @param text returns the text of the line, given the seconds since the start; undefined: nothing is shown */
  constructor(out: NodeJS.WriteStream, text: (seconds: number) => string | undefined) {
    this.#out = out;
    this.#text = text;
    this.#timer = setInterval(() => this.#draw(), out.isTTY ? 200 : 10_000);
    this.#timer.unref();
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }

  printLine(line: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line}\n` : `${line}\n`);
  }

  finish(): void {
    clearInterval(this.#timer);
    if (this.#draw() && this.#out.isTTY) this.#out.write('\n');
  }

  #draw(): boolean {
    const line = this.#text(this.seconds);
    if (line === undefined) return false;
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line.slice(0, (this.#out.columns ?? 80) - 1)}` : `${line}\n`);
    return true;
  }
}

/** Seconds for people: `40 s`, `3 min`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
