import { AkinError } from '@akin/domain';

/**
 * Checks `wt`. An unknown writer is json, as in Solr; the two that old clients set and could not read json for are not.
 *
 * @throws AkinError bad-request naming the parser that the client is to set
 */
export function checkWriter(wt: string | undefined): void {
  if (wt === 'javabin') {
    throw new AkinError(
      'bad-request',
      'wt=javabin is not written here: set a JSON parser in the client (SolrJ: setParser(new JsonMapResponseParser())), or send wt=json.',
    );
  }
  if (wt === 'xml') throw new AkinError('bad-request', 'wt=xml is not written here: send wt=json.');
}
