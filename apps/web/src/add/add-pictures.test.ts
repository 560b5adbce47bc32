import { AkinRequestError, type Collection, type RunReport } from '@akin/client';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { addPictures, failedFilesOf } from './add-pictures.ts';

const listeners = new Set<unknown>();

beforeEach(() => {
  listeners.clear();
  Object.assign(globalThis, {
    addEventListener: (_: string, listener: unknown) => listeners.add(listener),
    removeEventListener: (_: string, listener: unknown) => listeners.delete(listener),
  });
});
afterEach(() => {
  for (const name of ['addEventListener', 'removeEventListener']) Reflect.deleteProperty(globalThis, name);
});

const files = Array.from({ length: 20 }, (_, i) => ({ path: `a/${i}.png`, file: new File(['x'], `${i}.png`) }));

/** A collection that answers each picture so, and its last report. */
function collectionOf(addPicture: (document: { id: string }) => Promise<unknown>) {
  const reported: { id: string; report: RunReport }[] = [];
  const collection = {
    addPicture: jest.fn(addPicture),
    commit: jest.fn(async () => {}),
    reportRun: async (id: string, report: RunReport) => reported.push({ id, report }),
  };
  return { collection: collection as typeof collection & Collection, last: () => reported.at(-1) };
}

it.each([401, 403, 404, 507])(
  'stops when akin refuses all pictures with %i, and keeps them to be retried',
  async (status) => {
    const refusal = new AkinRequestError(status, 'Refused.');
    let sent = 0;
    const { collection, last } = collectionOf(async () => {
      sent += 1;
      if (sent > 6) throw refusal;
    });
    await expect(addPictures(collection, files)).rejects.toBe(refusal);
    expect(sent).toBeLessThan(11);
    expect(collection.commit).toHaveBeenCalled();
    expect(last()?.report).toMatchObject({ state: 'failed', done: 6, failed: sent - 6 });
    expect(failedFilesOf(last()?.id ?? '')).toHaveLength(files.length - 6);
  },
);

it('goes on when akin refuses one picture', async () => {
  const { collection, last } = collectionOf(async ({ id }) => {
    if (id === 'a/3.png') throw new AkinRequestError(415, 'Not an image.');
  });
  await addPictures(collection, files);
  expect(last()?.report).toMatchObject({ state: 'done', done: 19, failed: 1 });
  expect(failedFilesOf(last()?.id ?? '')).toEqual([files[3]]);
});

it('warns of leaving the page until the last of several runs has ended', async () => {
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const long = addPictures(collectionOf(() => held).collection, files);
  await addPictures(collectionOf(async () => {}).collection, files);
  expect(listeners.size).toBe(1);
  end();
  await long;
  expect(listeners.size).toBe(0);
});
