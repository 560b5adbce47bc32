import { AkinRequestError, type Collection, type FoundDocument, type NewDocument } from '@akin/client';
import { scaledByChaos, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentsOf, type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { type PictureServer, picture, servePictures, UNLIKE } from './pictures.ts';

/** PostgreSQL is another process, which no kill of akin reaches: one is enough there. */
const ROUNDS = { PGlite: scaledByChaos(2), PostgreSQL: scaledByChaos(1) };
/** Documents of one request: accepted together or not at all. */
const BATCH = 5;
/** Responses before the kill: a different number in each round kills at a different moment. */
const responsesIn = (rounds: number) => Array.from({ length: rounds }, (_, round) => 12 + ((13 * round) % 20));

/** What was sent, and which requests were answered. */
class Ledger {
  readonly answered = new Set<string>();
  /** By batch: the ids that were sent together. */
  readonly batches = new Map<string, string[]>();
  /** Of the one document that is replaced repeatedly. */
  sentVersion = 0;
  answeredVersion = 0;
  responses = 0;
}

describe.each(['PGlite', 'PostgreSQL'] as const)('killed again and again on %s', (engine) => {
  let location: string[];
  let removeLocation: () => Promise<unknown>;
  let pictures: PictureServer;
  let akin: ServingAkin;
  let collection: Collection;
  let outputs: string;
  const ledger = new Ledger();

  const start = async () => {
    akin = await serveAkin(['--no-demo', ...location]);
    collection = akin.client.collection('my-collection');
  };

  beforeAll(async () => {
    const folder = await temporaryFolder();
    if (engine === 'PGlite') {
      location = ['--data', folder.folder];
      removeLocation = folder.remove;
    } else {
      const database = await testDatabase();
      location = ['--data', folder.folder, '--database-url', database.url];
      removeLocation = () => Promise.all([folder.remove(), database.drop()]);
    }
    pictures = await servePictures();
    await start();
    const bytes = await picture(UNLIKE[0]);
    outputs = (await collection.analyze({ data: bytes.toString('base64') })).outputs;
  });
  afterAll(async () => {
    await akin?.command.stop();
    await pictures?.[Symbol.asyncDispose]();
    await removeLocation?.();
  });

  it.each(responsesIn(ROUNDS[engine]).map((responses, round) => [round + 1, responses]))(
    'loses nothing that was answered and shows nothing by half (kill %d)',
    async (round, responses) => {
      await killWhileChangesFlow(round, responses);
      await start();
      await expectWhole(await documentsOf(collection));
      await collection.commit({ waitAnalysis: true });
      const found = await documentsOf(collection);
      await expectWhole(found);
      expect([...ledger.answered].filter((id) => !found.has(id))).toEqual([]);
      expect(found.get('replaced')?.version).toBeGreaterThanOrEqual(ledger.answeredVersion);
      expect(await collection.status()).toMatchObject({ documents: found.size, pending: 0, failed: 0 });
    },
  );

  it('has had no idle round', () => {
    expect(ledger.answered.size).toBeGreaterThan(ROUNDS[engine] * 20);
  });

  /** Sends changes of three kinds at the same time and kills akin when some were answered. */
  async function killWhileChangesFlow(round: number, responses: number): Promise<void> {
    const before = ledger.responses;
    let enough = () => {};
    const reached = new Promise<void>((resolve) => {
      enough = resolve;
    });
    /** Sends one change after the other until no response comes. */
    const flow = async (send: (n: number) => Promise<void>) => {
      for (let n = 0; ; n++) {
        try {
          await send(n);
        } catch (error) {
          if (error instanceof AkinRequestError && error.status === 0) return;
          throw error;
        }
        ledger.responses++;
        if (ledger.responses - before >= responses) enough();
      }
    };
    const sendBatch = async (name: string, fields: (id: string) => Omit<NewDocument, 'id'>, parameters: object) => {
      const ids = Array.from({ length: BATCH }, (_, position) => `${name} ${position}`);
      ledger.batches.set(name, ids);
      await collection.add(
        ids.map((id) => ({ id, batch: name, ...fields(id) })),
        parameters,
      );
      for (const id of ids) ledger.answered.add(id);
    };
    const flows = Promise.all([
      flow((n) => sendBatch(`import ${round}.${n}`, () => ({ import: outputs }), { commit: n % 3 === 1 })),
      flow((n) =>
        sendBatch(`image ${round}.${n}`, () => ({ image: `${pictures.url}/${UNLIKE[n % 4]}.jpg` }), { async: true }),
      ),
      flow(async () => {
        const version = ++ledger.sentVersion;
        await collection.add([{ id: 'replaced', version, import: outputs }], { commit: version % 2 === 0 });
        ledger.answeredVersion = version;
      }),
    ]);
    await Promise.race([reached, flows]);
    await akin.command.stop('SIGKILL');
    await flows;
  }

  /** Visible requests are complete, documents have all their parts, and versions were sent. */
  async function expectWhole(found: Map<string, FoundDocument>): Promise<void> {
    for (const [batch, ids] of ledger.batches) {
      const seen = ids.filter((id) => found.has(id));
      // Pictures of one request are ready at different times, so they may be seen at different commits.
      if (!batch.startsWith('image')) expect([batch, [0, BATCH].includes(seen.length)]).toEqual([batch, true]);
    }
    const analyzed = [...found.values()].filter((document) => document.content_rerank !== undefined);
    expect(analyzed).toHaveLength(found.size);
    const version = found.get('replaced')?.version ?? 0;
    expect(version).toBeLessThanOrEqual(ledger.sentVersion);
    // Each has its descriptor and its words, and exists once.
    const { response } = await collection.image({ 'rank.by.outputs': outputs, rows: 0 });
    expect(response.numFound).toBe(found.size);
    expect((await collection.select({ q: 'import image replaced', 'q.op': 'OR', rows: 0 })).response.numFound).toBe(
      found.size,
    );
  }
});
