import { createHash } from 'node:crypto';
import { AkinRequestError, type Client, type Collection } from '@akin/client';
import { modelNames } from '@akin/modules/vectors';
import { retryTransient } from '../bulk/retry-transient.ts';
import { analysisConfig } from '../commands/analysis-options.ts';
import { ContentModels } from '../models/content-models.ts';
import { createModelAnalyzers } from '../models/model-analyzers.ts';
import { modelNameOf, modelsFolder } from '../models/models-folder.ts';
import { type ParsedOptions, UsageError } from '../options.ts';
import { refuseMissing } from './candidates.ts';
import { runFolders } from './run-folders.ts';

/** Characters of a name that begin the name of its temporary collection, which must not become too long. */
const PREFIX_CHARACTERS = 80;

/**
 * Analyzes pictures of a collection again, from the folders on the command line, into a temporary collection: the
 * server cannot read these files, and the command can. After a stop it continues if the models are the same.
 *
 * @returns the temporary collection; its documents have the ids of the documents that they are for
 * @throws UsageError for a path that does not exist, or if the temporary collection cannot be created
 */
export async function reanalyzePictures(
  client: Client,
  name: string,
  options: ParsedOptions,
  signal: AbortSignal,
): Promise<Collection> {
  await refuseMissing(options.positionals, 'Name the folder of the pictures. Give the collection with --collection.');
  const analysis = analysisConfig(options);
  const model = modelNameOf(options);
  const models = new ContentModels({ contentModel: analysis.contentModel, models: modelsFolder(options) });
  await using analyzer = await createModelAnalyzers(analysis, models);
  const temporary = await temporaryCollection(client, name, model);
  await runFolders(options, {
    collection: temporary,
    analyzer,
    models,
    threads: analysis.threads,
    signal,
    picturesOf: client.collection(name),
  });
  signal.throwIfAborted();
  return temporary;
}

/** Also those of stopped runs with other models. Reports those that it cannot remove. */
export async function dropPictures(
  client: Client,
  name: string,
  maxOutageMilliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const patiently = <Value>(work: () => Promise<Value>) => retryTransient(work, maxOutageMilliseconds, signal);
  const warn = (what: string, error: unknown) => {
    if (!(error instanceof AkinRequestError)) throw error;
    process.stderr.write(
      `${what}, the temporary collection of this reindex, could not be removed (${error.message}). Remove it with DELETE /api/cores/<name>, or run akin reindex with the folder again.\n`,
    );
  };
  try {
    const { collections } = await patiently(() => client.collections());
    for (const { name: one } of collections) {
      if (!one.startsWith(temporaryNamePrefix(name))) continue;
      const temporary = client.collection(one);
      try {
        if (await patiently(() => isTemporaryOf(temporary, name))) await patiently(() => temporary.drop());
      } catch (error) {
        // Otherwise the response to a first attempt was lost, or another command was faster.
        if (!isMissing(error)) warn(one, error);
      }
    }
  } catch (error) {
    warn(`${temporaryNamePrefix(name)}…`, error);
  }
}

/**
 * The collection for outputs of the models of this process. It has an unusual name and a field that marks it as
 * temporary, so that a collection of a user is never filled or dropped.
 */
async function temporaryCollection(client: Client, name: string, model: string | undefined): Promise<Collection> {
  const hash = createHash('sha256').update(`${name}\n${modelNames()}`).digest('hex').slice(0, 8);
  const temporary = client.collection(`${temporaryNamePrefix(name)}${hash}`);
  try {
    if (await isTemporaryOf(temporary, name)) return temporary;
    throw new UsageError(
      `The collection ${temporary.name} exists, but akin reindex did not create it. Remove it, or copy it to another name.`,
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    await temporary.create(model === undefined ? {} : { model });
  } catch (error) {
    if (!(error instanceof AkinRequestError && error.status === 403)) throw error;
    throw new UsageError(
      `${error.message} The pictures of a folder need a temporary collection: use a key with the scope admin for all collections.`,
    );
  }
  await temporary.defineFields({ [fieldFor(name)]: 'string' });
  return temporary;
}

function temporaryNamePrefix(name: string): string {
  return `${name.slice(0, PREFIX_CHARACTERS)}.pictures-`;
}

function fieldFor(name: string): string {
  return `pictures again for ${name}`;
}

/** @throws AkinRequestError 404 if there is none */
async function isTemporaryOf(temporary: Collection, name: string): Promise<boolean> {
  const { schema } = await temporary.schema();
  return schema.fields.some((field) => field.name === fieldFor(name));
}

function isMissing(error: unknown): boolean {
  return error instanceof AkinRequestError && error.status === 404;
}
