import { readFile } from 'node:fs/promises';
import type { Collection, NewDocument, SearchResponse } from '@akin/client';
import { pauseClient } from '@akin/testing';

/** Documents that every request stamps together. */
export const STAMPED = 2_400;
/** The last of these documents, which have outputs and so can be ranked. */
const PROBES = 24;

const DEMO = new URL('../../apps/akin/demo/documents.json', import.meta.url);

export const stampedId = (number: number) => `stamped-${number}`;

/** The documents of the demo, with outputs of pictures. */
async function demoDocuments(): Promise<(NewDocument & { readonly import: string })[]> {
  return JSON.parse(await readFile(DEMO, 'utf8')).documents;
}

/** Makes all documents of a request, each with its stamp. */
export async function stampedDocuments(): Promise<(stamp: number) => NewDocument[]> {
  const documents = await demoDocuments();
  return (stamp) =>
    Array.from({ length: STAMPED }, (_, i) => {
      const outputs = i < STAMPED - PROBES ? undefined : documents[STAMPED - 1 - i]?.import;
      return { id: stampedId(i), stamped: true, stamp, ...(outputs ? { probe: true, import: outputs } : {}) };
    });
}

/** What one search shows of the stamped documents. */
interface SearchView {
  readonly count: number;
  readonly wanted: number;
  readonly stamps: readonly number[];
}

/** The ways of searches: with a transaction, without one, and ranked from memory. */
const LOOKS: readonly ((collection: Collection) => Promise<SearchView>)[] = [
  async (collection) => {
    const found = await collection.select({ q: 'stamped:true', rows: 0, facet: true, 'facet.field': 'stamp' });
    const values = found.facet_counts?.facet_fields?.stamp ?? [];
    const stamps = values.flatMap((value, i) => (i % 2 === 0 && Number(values[i + 1]) > 0 ? [Number(value)] : []));
    return { count: found.response.numFound, wanted: STAMPED, stamps };
  },
  async (collection) => page(await collection.select({ q: 'probe:true', fl: 'id,stamp', rows: PROBES + 1 })),
  async (collection) => {
    const rank = { 'rank.by.id': stampedId(STAMPED - 1), fq: 'probe:true', fl: 'id,stamp', rows: PROBES + 1 };
    return page(await collection.image(rank));
  },
];

function page({ response }: SearchResponse): SearchView {
  const stamps = [...new Set(response.docs.map(({ stamp }) => Number(stamp)))];
  return { count: response.docs.length, wanted: PROBES, stamps };
}

/** What a watcher saw. */
export interface WatchResult {
  /** Searches that did not show one whole commit, or an older one than a search before. */
  readonly wrong: string[];
  /** Searches that were not answered. */
  readonly failed: string[];
  answered: number;
}

/**
 * Searches several gateways in turn, one search after the other, until it is stopped. All stamped documents must be
 * visible before.
 */
export async function watchStamps(
  collections: readonly Collection[],
  into: WatchResult,
  stop: AbortSignal,
): Promise<void> {
  let newest = 0;
  for (let turn = 0; !stop.aborted; turn++) {
    const look = LOOKS[turn % LOOKS.length] as (typeof LOOKS)[number];
    // Another gateway than before, also for the same kind of search.
    const collection = collections[turn % collections.length] as Collection;
    try {
      const { count, wanted, stamps } = await look(collection);
      const [stamp = -1] = stamps;
      if (count !== wanted || stamps.length !== 1 || stamp < newest) {
        into.wrong.push(`search ${turn}: ${count} of ${wanted} documents with ${stamps}, after ${newest}`);
      }
      newest = Math.max(newest, ...stamps);
      into.answered++;
    } catch (error) {
      into.failed.push(`search ${turn}: ${(error as Error).message}`);
    }
    await pauseClient(100);
  }
}
