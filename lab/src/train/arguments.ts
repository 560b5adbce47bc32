import { parseArgs } from 'node:util';
import { BACKENDS, type Backend, checkBackend } from '@akin/modules/internal/network/backend';
import { MODULES } from '@akin/modules/manifests';

/** The arguments of a training script, in addition to `--backend`, which all scripts accept. */
interface ArgumentSpec {
  /** Number of required folders, in the order of the usage text. */
  readonly folders: number;
  /** Whether names of modules with a codebook may follow. */
  readonly modules?: boolean;
  /** Options with a folder as value. */
  readonly options?: readonly ('classes' | 'model')[];
}

interface Arguments {
  /** The required folders. */
  readonly folders: string[];
  /** The named modules. Default: all modules with a codebook. */
  readonly modules: readonly string[];
  readonly classes: string | undefined;
  readonly model: string | undefined;
  readonly backend: Backend;
}

/**
 * Reads the arguments of a training script from this process. If they are wrong, or the backend does not work on this
 * machine, prints the reason and the usage, and exits with status 1.
 *
 * @param usage The text after `npm run`, without `--backend`.
 */
export async function readArguments(usage: string, wanted: ArgumentSpec): Promise<Arguments> {
  try {
    const { backend, ...others } = parse(wanted);
    await checkBackend(backend);
    return { backend, ...others };
  } catch (error) {
    fail(`${(error as Error).message}\nUsage: npm run ${usage} [--backend ${BACKENDS.join('|')}]`);
  }
}

/** Prints the reason and exits with status 1. */
export function fail(why: unknown): never {
  console.error(why instanceof Error ? why.message : why);
  process.exit(1);
}

/** @throws {Error} that says what is wrong. */
function parse({ folders, modules = false, options = [] }: ArgumentSpec): Arguments {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(['backend', ...options].map((name) => [name, { type: 'string' }])),
  });
  const { classes, model, ...rest } = values as Record<string, string | undefined>;
  if (positionals.length < folders) throw new Error(folders === 1 ? 'Name a folder.' : `Name ${folders} folders.`);
  const name = rest.backend ?? 'wasm';
  const backend = BACKENDS.find((one) => one === name);
  if (backend === undefined) throw new Error(`--backend is one of ${BACKENDS.join(', ')}, not ${name}.`);
  const named = positionals.slice(folders);
  const known = MODULES.filter(({ descriptor }) => modules && descriptor).map((module) => module.name);
  const unknown = named.find((one) => !known.includes(one));
  if (unknown !== undefined) {
    throw new Error(
      modules ? `${unknown} is not one of the modules ${known.join(', ')}.` : `${unknown} is one too many.`,
    );
  }
  return { folders: positionals.slice(0, folders), modules: named.length > 0 ? named : known, classes, model, backend };
}
