import { AkinError } from '@akin/domain';

/**
 * Checks `wt`. An unknown writer is json, as in Solr; the one that old clients set and that is not written here is not.
 *
 * @throws AkinError bad-request naming the parser that the client is to set
 */
export function checkWriter(wt: string | undefined): void {
  if (wt !== 'javabin') return;
  throw new AkinError(
    'bad-request',
    'akin does not write wt=javabin: set another parser in the client (SolrJ: withResponseParser or setParser with new XMLResponseParser()), or send wt=xml or wt=json.',
  );
}
