import { badRequest } from '@akin/domain';

/**
 * Checks `wt`. An unknown writer means json, as in Solr. The one that old clients set and akin does not support is
 * refused.
 *
 * @throws AkinError bad-request naming the parser to set in the client
 */
export function checkWriter(wt: string | undefined): void {
  if (wt !== 'javabin') return;
  throw badRequest(
    'akin does not write wt=javabin: set another parser in the client (SolrJ: withResponseParser or setParser with new XMLResponseParser()), or send wt=xml or wt=json.',
  );
}
