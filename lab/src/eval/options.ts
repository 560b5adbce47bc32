import { realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BACKENDS, type Backend } from '@akin/modules/internal/network/backend';

export interface EvalOptions {
  /** The folders, which are measured separately, and the folders for their results. */
  readonly folders: readonly { readonly folder: string; readonly results: string }[];
  /** Maximum number of pictures to measure in a folder, and how many of them to edit. */
  readonly sample: number;
  readonly edited: number;
  readonly backend: Backend;
  /** Folder of the user's own content model. */
  readonly contentModel: string | undefined;
}

export const USAGE = `Usage: npm run eval -- <folder of pictures…> [options]

Measures what akin says of your pictures, compared with classic descriptors: content (folders below a folder are its classes),
copies (27 edits of each of some pictures), colours, copyspace and codes. The same files give the same figures.

  --sample 500          pictures of a folder that are taken, spread over it
  --edited 50           pictures of these that are edited and looked for
  --out eval-results    folder for figures.md, figures.json, pictures.md and pictures to look at
  --backend wasm        what runs the network: ${BACKENDS.join(', ')}
  --content-model …     folder of a content model of your own
  --help                this text`;

/**
 * @returns the options, or undefined if help was requested. A folder that is given twice is measured once.
 * @throws {Error} that says what is wrong.
 */
export async function readEvalOptions(args: readonly string[]): Promise<EvalOptions | undefined> {
  const { positionals, values } = parse(args);
  if (values.help) return undefined;
  if (positionals.length === 0) throw new Error('Name a folder of pictures.');
  const backend = BACKENDS.find((name) => name === values.backend);
  if (backend === undefined) throw new Error(`--backend is one of ${BACKENDS.join(', ')}, not ${values.backend}.`);
  return {
    folders: await distinct(positionals, values.out),
    sample: wholeNumber('sample', values.sample, 2),
    edited: wholeNumber('edited', values.edited, 1),
    backend,
    contentModel: values['content-model'],
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '500' },
      edited: { type: 'string', default: '50' },
      out: { type: 'string', default: 'eval-results' },
      backend: { type: 'string', default: 'wasm' },
      'content-model': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} is a whole number from ${least} on, not ${text}.`);
}

/** Folders with the same name, such as a/train and b/train, get separate results. */
async function distinct(folders: readonly string[], out: string): Promise<EvalOptions['folders']> {
  const found = new Map<string, string>();
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => resolve(folder));
    if (!found.has(real)) found.set(real, folder);
  }
  const taken = new Set<string>();
  return [...found.values()].map((folder) => {
    const name = basename(resolve(folder)) || 'pictures';
    let own = name;
    for (let count = 2; taken.has(own); count++) own = `${name}-${count}`;
    taken.add(own);
    return { folder, results: join(out, own) };
  });
}
