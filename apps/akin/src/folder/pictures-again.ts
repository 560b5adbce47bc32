import { createHash } from 'node:crypto';
import { AkinRequestError, type Client, type Collection } from '@akin/client';
import { modelNames } from '@akin/modules/vectors';
import { persist } from '../bulk/persist.ts';
import { analysisConfig } from '../commands/serve-options.ts';
import { ContentModels } from '../models/content-models.ts';
import { createModelAnalyzers } from '../models/model-analyzers.ts';
import { modelNameOf, modelsFolder } from '../models/models-folder.ts';
import { type Parsed, UsageError } from '../options.ts';
import { refuseMissing } from './candidates.ts';
import { runFolders } from './run-folders.ts';

/** So much of a name, with what follows, is a name that a collection may have. */
const KEPT_OF_NAME = 80;

/**
 * Analyzes pictures of a collection again that came from the folders which the command line names, into a temporary
 * collection: the server cannot read these files, and the command can. After a stop it continues there if the models are
 * the same.
 *
 * @returns the temporary collection; its documents have the ids of those that they are for
 * @throws UsageError for a path that does not exist, or when the temporary collection cannot be made
 */
export async function readPicturesAgain(
  client: Client,
  name: string,
  options: Parsed,
  signal: AbortSignal,
): Promise<Collection> {
  await refuseMissing(options.words, 'Name the folder of the pictures; the collection is named by --collection.');
  const analysis = analysisConfig(options);
  const model = modelNameOf(options);
  const models = new ContentModels({ contentModel: analysis.contentModel, models: modelsFolder(options) });
  const only = new Set<string>();
  for await (const { id } of client.collection(name).all({ fl: 'id' })) only.add(id);
  await using analyzer = await createModelAnalyzers(analysis, models);
  const temporary = await temporaryCollection(client, name, model);
  await runFolders(options, { collection: temporary, analyzer, models, threads: analysis.threads, signal, only });
  signal.throwIfAborted();
  return temporary;
}

/** Removes the temporary collections, also of stopped runs with other models; reports those that it cannot remove. */
export async function dropPictures(
  client: Client,
  name: string,
  patienceMilliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const patiently = <Value>(work: () => Promise<Value>) => persist(work, patienceMilliseconds, signal);
  const warn = (what: string, error: unknown) => {
    if (!(error instanceof AkinRequestError)) throw error;
    process.stderr.write(
      `${what}, the temporary collection of this reindex, could not be removed (${error.message}). Remove it with DELETE /api/cores/<name>, or name the folder to akin reindex again.\n`,
    );
  };
  try {
    const { collections } = await patiently(() => client.collections());
    for (const { name: one } of collections) {
      if (!one.startsWith(beginningFor(name))) continue;
      const temporary = client.collection(one);
      try {
        if (await patiently(() => isOurs(temporary, name))) await patiently(() => temporary.drop());
      } catch (error) {
        // Else the answer to a first try was lost, or somebody else was faster.
        if (!isMissing(error)) warn(one, error);
      }
    }
  } catch (error) {
    warn(`${beginningFor(name)}…`, error);
  }
}

/**
 * The collection for outputs by the models of this process. Its name is one that nobody else would give, and it has a
 * field that says whose it is: what somebody else made is never filled, nor dropped.
 */
async function temporaryCollection(client: Client, name: string, model: string | undefined): Promise<Collection> {
  const hash = createHash('sha256').update(`${name}\n${modelNames()}`).digest('hex').slice(0, 8);
  const temporary = client.collection(`${beginningFor(name)}${hash}`);
  try {
    if (await isOurs(temporary, name)) return temporary;
    throw new UsageError(
      `The collection ${temporary.name} is not one that akin reindex made: give it another name, or remove it if nobody needs it.`,
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    await temporary.create(model === undefined ? {} : { model });
  } catch (error) {
    if (!(error instanceof AkinRequestError && error.status === 403)) throw error;
    throw new UsageError(
      `${error.message} The pictures of a folder need a temporary collection: use a key with the scope admin that is for all collections.`,
    );
  }
  await temporary.defineFields({ [fieldFor(name)]: 'string' });
  return temporary;
}

function beginningFor(name: string): string {
  return `${name.slice(0, KEPT_OF_NAME)}.pictures-`;
}

function fieldFor(name: string): string {
  return `pictures again for ${name}`;
}

/** @throws AkinRequestError 404 when there is none */
async function isOurs(temporary: Collection, name: string): Promise<boolean> {
  const { schema } = await temporary.schema();
  return schema.fields.some((field) => field.name === fieldFor(name));
}

function isMissing(error: unknown): boolean {
  return error instanceof AkinRequestError && error.status === 404;
}
