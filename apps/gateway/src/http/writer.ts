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
    'wt=javabin is not written here: set another parser in the client (SolrJ: new XMLResponseParser(), as withResponseParser or setParser takes it), or send wt=xml or wt=json.',
  );
}
