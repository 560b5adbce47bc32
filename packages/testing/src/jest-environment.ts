import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** The file, in the temporary folder of a run, with a line of JSON for each test file: {@link FileTime}. */
export const TIMES = 'times.ndjson';

export interface FileTime {
  readonly path: string;
  /** CPU time of its process and of the programs that it started and that have ended. Not of shared services. */
  readonly seconds: number;
}

/**
 * Node's environment, with fast globals, which also writes down how much CPU time each test file takes.
 *
 * Jest gives its context an object that intercepts each access to a global, such as `Math` or `Number`, which makes it
 * about a hundred times slower: loops over pixels, vectors and characters take most of their time there. A context
 * without such an object isolates test files as well.
 */
export default class TimedEnvironment extends TestEnvironment {
  readonly #path: string;
  readonly #before = processorSeconds();

  constructor(...args: ConstructorParameters<typeof TestEnvironment>) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...args);
    } finally {
      vm.createContext = createContext;
    }
    this.#path = args[1].testPath;
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    const time: FileTime = { path: this.#path, seconds: processorSeconds() - this.#before };
    appendFileSync(join(process.env.TMPDIR ?? '', TIMES), `${JSON.stringify(time)}\n`);
  }
}

/**
 * CPU seconds of this process, and of its children that have ended. Where there is no /proc, of this process alone.
 *
 * @see proc_pid_stat(5): utime, stime, cutime and cstime are the fields 14 to 17, in ticks of 10 ms
 */
export function processorSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
