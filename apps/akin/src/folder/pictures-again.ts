import type { Client, Collection } from '@akin/client';
import { createAnalyzer } from '@akin/modules/analyze';
import { collectionToFill } from '../collection-to-fill.ts';
import { analysisConfig } from '../commands/serve-options.ts';
import type { Parsed } from '../options.ts';
import { refuseMissing } from './candidates.ts';
import { runFolders } from './run-folders.ts';

/**
 * Analyzes pictures of a collection again that came from the folders which the command line names, into a collection
 * beside it: a server reads no files, so whoever may read them does.
 *
 * @returns the collection beside, whose documents have the ids of those that they are for
 * @throws UsageError for a path that leads nowhere
 */
export async function readPicturesAgain(
  client: Client,
  name: string,
  options: Parsed,
  signal: AbortSignal,
): Promise<Collection> {
  await refuseMissing(options.words);
  const analysis = analysisConfig(options);
  const only = new Set<string>();
  for await (const { id } of client.collection(name).all({ fl: 'id' })) only.add(id);
  await using analyzer = await createAnalyzer(analysis);
  const beside = await collectionToFill(client, `${name.slice(0, 90)}.pictures`);
  await runFolders(options, { collection: beside, analyzer, threads: analysis.threads, signal, only });
  signal.throwIfAborted();
  return beside;
}
