import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AkinRequestError } from '@akin/client';
import { findServer, outageOption, SERVER_OPTIONS } from '../bulk/options.ts';
import { bulkProgressLine } from '../bulk/progress-line.ts';
import { retryTransient } from '../bulk/retry-transient.ts';
import { UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';
import type { CommandModule } from '../program.ts';

export const exportCommand: CommandModule = {
  command: {
    name: 'export',
    usage: 'export [-o <file.ndjson[.gz]>]',
    description:
      'Writes the documents of a collection, with their outputs and thumbnails, as lines that akin import reads. All come from one commit: changes that are not visible yet are left out. The file appears when it is complete. Exit code 0: all documents are written; 1: some are missing; 130: stopped.',
    options: [
      ...SERVER_OPTIONS,
      {
        name: 'output',
        short: 'o',
        valueName: 'file',
        description: 'File to write; - is standard output',
        default: '-',
      },
      { name: 'q', valueName: 'query', description: 'Only documents that match', default: '*:*' },
      {
        name: 'fq',
        valueName: 'query',
        description: 'Only documents that also match this. May be repeated',
        isRepeatable: true,
      },
      outageOption(300),
    ],
  },

  async run(options, signal) {
    if (options.positionals.length > 0)
      throw new UsageError('Name the file with -o, and the collection with --collection.');
    const { client, name } = await findServer(options);
    const collection = client.collection(name);
    const expected = (await collection.status()).documents;
    const output = await openOutput(options.text('output') ?? '-');
    const parameters = { q: options.text('q') ?? '*:*', fq: options.texts('fq') };
    const maxOutageMilliseconds = options.number('max-outage') * 1_000;
    let documents = 0;
    let commit = 0;
    const all = parameters.q === '*:*' && parameters.fq.length === 0;
    const line = bulkProgressLine(process.stderr, () => ({
      documents,
      failed: 0,
      share: all && expected > 0 ? Math.min(1, documents / expected) : undefined,
      note: '',
    }));
    try {
      let cursor: string | undefined;
      do {
        const before = cursor;
        const page = await retryTransient(
          () => collection.exportPage(parameters, before, { signal }),
          maxOutageMilliseconds,
          signal,
        );
        await output.write(page.lines);
        documents += countLines(page.lines) - (before === undefined ? 1 : 0);
        commit = page.commit;
        cursor = page.cursor;
      } while (cursor !== undefined);
      await output.end();
    } catch (error) {
      line.finish();
      await output.discard();
      if (!(error instanceof AkinRequestError)) throw error;
      process.stderr.write(`${error.message} Only ${documents} documents were written.\n`);
      return 1;
    }
    line.finish();
    process.stderr.write(`${documents} documents of commit ${commit} in ${line.seconds.toFixed(1)} s.\n`);
    return 0;
  },
};

interface Output {
  write(text: string): Promise<void>;
  end(): Promise<void>;
  discard(): Promise<void>;
}

/** A file gets its name when it is complete. A device or a pipe is written directly. */
async function openOutput(file: string): Promise<Output> {
  const cannotWrite = (error: Error) => {
    throw new UsageError(`${file === '-' ? 'Standard output' : file} cannot be written: ${error.message}`);
  };
  if (file === '-') {
    return {
      write: (text) => writeTo(process.stdout, text).catch(cannotWrite),
      end: async () => {},
      discard: async () => {},
    };
  }
  const isFile = await mayReplace(file);
  // Another export into this file has its own.
  const partial = isFile ? `${file}.${randomUUID().slice(0, 8)}.partial` : file;
  const target = createWriteStream(partial, { flags: isFile ? 'wx' : 'w' });
  const stream: Writable = file.endsWith('.gz') ? createGzip({ level: 6 }) : target;
  if (stream !== target) stream.pipe(target);
  // The next write, or the end, reports it.
  const done = finished(target).catch(cannotWrite);
  done.catch(() => {});
  return {
    write: (text) => Promise.race([writeTo(stream, text).catch(cannotWrite), done]),
    async end() {
      stream.end();
      await done;
      if (isFile) await rename(partial, file);
    },
    async discard() {
      stream.destroy();
      target.destroy();
      if (isFile) await rm(partial, { force: true });
    },
  };
}

function writeTo(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
