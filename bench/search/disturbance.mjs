import { setTimeout as delay } from 'node:timers/promises';
import { idOf } from '../lib/documents.mjs';
import { publish, send, sendJson } from '../lib/http.mjs';
import { createPhases } from '../lib/phases.mjs';
import { createDice } from '../lib/random.mjs';
import { documentTexts } from './collection.mjs';

const WINDOWS_AFTER = 4;

/**
 * Measures how long searches take while nothing changes, while a commit replaces documents, and after it. The replaced
 * documents get the same values again, so that the collection does not change.
 *
 * @returns {Promise<{ title: string, times: number[], seconds: number }[]>}
 */
export async function measureDisturbance(collectionUrl, folder, { documents, changed, seconds }) {
  const dice = createDice(5);
  const searches = [
    () => `rank.by.id=${idOf(dice.whole(documents))}`,
    () => `rank.by.id=${idOf(dice.whole(documents))}&fq=tenth:${dice.whole(10)}`,
    () => `rank.by.id=${idOf(dice.whole(documents))}&fq=thousandth:${dice.whole(1_000)}`,
  ];
  const measured = createPhases((i) =>
    send(`${collectionUrl}/image?${searches[i % searches.length]()}&fl=id,score&rows=10`),
  );
  const wait = () => delay(seconds * 1000);
  const body = `[${(await documentTexts(folder, changed)).join(',')}]`;
  const headers = { 'content-type': 'application/json' };

  await measured.during('warming up', wait);
  measured.phases.pop();
  await measured.during('idle', wait);
  await measured.during('while they are accepted', () =>
    sendJson(`${collectionUrl}/update?commit=false`, { method: 'POST', headers, body }),
  );
  await measured.during('while the commit applies them', () => publish(collectionUrl));
  await measured.after(WINDOWS_AFTER, seconds);
  return measured.phases;
}
