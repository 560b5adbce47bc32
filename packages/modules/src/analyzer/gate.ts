/** Lets a limited number of callers in at once. The others wait in line, urgent ones before the rest. */
export interface Gate {
  /**
   * Waits for a place; the caller gives it back by calling what it got. Rejects with the signal's reason when aborted
   * while waiting, and with the reason of `close` after that.
   */
  enter(options: { readonly urgent: boolean; readonly signal?: AbortSignal | undefined }): Promise<() => void>;
  /** Turns away all who wait and all who come, and waits until those inside have left. */
  close(reason: Error): Promise<void>;
}

interface Waiting {
  readonly admit: () => void;
  readonly reject: (reason: unknown) => void;
}

export function createGate(places: number): Gate {
  const urgent = new Set<Waiting>();
  const others = new Set<Waiting>();
  let free = places;
  let closed: Error | undefined;
  let onEmpty: (() => void)[] = [];

  const admitNext = () => {
    for (const line of [urgent, others]) {
      for (const next of line) {
        if (free === 0) return;
        free--;
        line.delete(next);
        next.admit();
      }
    }
  };
  const tellEmpty = () => {
    if (free < places) return;
    for (const tell of onEmpty) tell();
    onEmpty = [];
  };
  const leave = () => {
    free++;
    admitNext();
    tellEmpty();
  };

  return {
    enter({ urgent: isUrgent, signal }) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        if (signal?.aborted) return reject(signal.reason);
        const line = isUrgent ? urgent : others;
        const onAbort = () => {
          line.delete(waiting);
          reject(signal?.reason);
        };
        const waiting: Waiting = {
          admit() {
            signal?.removeEventListener('abort', onAbort);
            resolve(leave);
          },
          reject(reason) {
            signal?.removeEventListener('abort', onAbort);
            reject(reason);
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        line.add(waiting);
        admitNext();
      });
    },
    close(reason) {
      closed = reason;
      for (const line of [urgent, others]) {
        for (const waiting of line) waiting.reject(reason);
        line.clear();
      }
      return new Promise((resolve) => {
        onEmpty.push(resolve);
        tellEmpty();
      });
    },
  };
}
