import { idOf, wordAt } from '../lib/documents.mjs';
import { send, timed } from '../lib/http.mjs';
import { createDice } from '../lib/random.mjs';

const FREQUENT_WORDS = 4_000;

/**
 * Measures other requests than `ranked` does. The first is a request to `/health/live`, as a baseline for the others.
 */
export async function measureOthers({ url, collectionUrl }, documents, rounds) {
  const dice = createDice(9);
  const id = () => idOf(dice.whole(documents));
  const requests = [
    ['whether akin lives', () => `${url}/health/live`],
    ['a document by its id', () => `select?q=id:${id()}`],
    ['ranked by a document, no filter', () => `image?rank.by.id=${id()}&fl=id,score`],
    ['ranked by a document, whole documents', () => `image?rank.by.id=${id()}`],
    ['ranked by colour', () => `image?rank.by.id=${id()}&rank.mode=color&fl=id,score`],
    ['ranked as duplicates', () => `image?rank.by.id=${id()}&rank.mode=duplicate&fl=id,score`],
    ['filter of 1 % alone', () => `select?fq=hundredth:${dice.whole(100)}`],
    ['one word in text', () => `select?q=${wordAt(10 + dice.whole(FREQUENT_WORDS))}`],
    ['latest first', () => 'select?q=*:*&sort=taken+desc'],
  ].map(([title, address]) => ({ title, address: () => new URL(address(), `${collectionUrl}/`), times: [] }));
  for (let round = -3; round < rounds; round++) {
    for (const { address, times } of requests) {
      const time = await timed(() => send(address()));
      if (round >= 0) times.push(time);
    }
  }
  return requests.map(({ title, times }) => ({ title, times }));
}
