import { setTimeout as delay } from 'node:timers/promises';
import { idOf } from '../lib/documents.mjs';
import { publish, send, sendJson } from '../lib/http.mjs';
import { createDice } from '../lib/random.mjs';
import { documentTexts } from './collection.mjs';

const WINDOWS_AFTER = 4;

/**
 * How long searches take while nothing changes, while a commit replaces documents, and after it. The replaced documents
 * get the values that they had, so that the collection stays what it was.
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
  const phases = [];
  /** Searches one after the other while `work` goes on. */
  const phase = async (title, work) => {
    const times = [];
    let going = true;
    const from = performance.now();
    const done = work().finally(() => {
      going = false;
    });
    for (let i = 0; going; i++) {
      const asked = performance.now();
      await send(`${collectionUrl}/image?${searches[i % searches.length]()}&fl=id,score&rows=10`);
      times.push(performance.now() - asked);
    }
    await done;
    phases.push({ title, times, seconds: (performance.now() - from) / 1000 });
  };
  const wait = () => delay(seconds * 1000);
  const body = `[${(await documentTexts(folder, changed)).join(',')}]`;
  const headers = { 'content-type': 'application/json' };

  await phase('warming up', wait);
  phases.pop();
  await phase('idle', wait);
  await phase('while they are accepted', () =>
    sendJson(`${collectionUrl}/update?commit=false`, { method: 'POST', headers, body }),
  );
  await phase('while the commit applies them', () => publish(collectionUrl));
  for (let window = 0; window < WINDOWS_AFTER; window++) {
    await phase(`${window * seconds} to ${(window + 1) * seconds} s after`, wait);
  }
  return phases;
}
