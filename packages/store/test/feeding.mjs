import { parseTinyOutputs } from './tiny-module.mjs';

/**
 * Changes for collections while a process or thread is killed: adds with pictures and with outputs, atomic updates,
 * deletes by id and by query, over few ids, so that they meet.
 *
 * @param api loadSchema, parseJson, TypeClaims and validateDocument
 * @param {(below: number) => number} random a whole number from 0 on
 */
export function createFeeding({ loadSchema, parseJson, TypeClaims, validateDocument }, firstNumber, random) {
  let number = firstNumber;
  // One of 40 points on a quarter of the circle: some are near enough to each other for a group.
  const outputs = () => {
    const angle = random(40) / 25;
    return JSON.stringify([Math.cos(angle), Math.sin(angle)]);
  };

  function makeChange() {
    const kind = random(20);
    const id = `id${random(60)}`;
    if (kind === 0) return { deleted: id };
    if (kind === 1) return { query: `n:${number - random(200)} OR group:${random(40)}` };
    if (kind < 5) return { id, updated: number++ };
    return { id, n: number++, group: random(40), analyzed: kind < 10 };
  }

  function addOf(document, fields, claims) {
    const validated = validateDocument(parseJson(JSON.stringify(document)), 0, fields, claims);
    if ('errors' in validated) throw new Error(validated.errors[0].msg);
    claims.add(validated.newTypes);
    const { import: text, ...own } = validated.document;
    return { kind: 'add', document: own, ...(text === undefined ? {} : { outputs: parseTinyOutputs(text) }) };
  }

  return {
    /** What the next request sends. */
    make() {
      // The id of the first document identifies the request.
      const first = { id: `request${number}`, n: number++, group: -1, analyzed: false };
      return [first, ...Array.from({ length: random(30) }, makeChange)];
    },
    /** That as changes. */
    async changesOf(store, collection, sent) {
      const { fields } = await loadSchema(store, collection);
      const claims = new TypeClaims();
      return sent.map((change) => {
        if ('deleted' in change) return { kind: 'delete', id: change.deleted };
        if ('query' in change) return { kind: 'delete-by-query', query: change.query };
        if ('updated' in change) return addOf({ id: change.id, n: { set: change.updated } }, fields, claims);
        const { id, n, group, analyzed } = change;
        const source = analyzed ? { image: 'http://images.example/x.jpg' } : { import: outputs() };
        return addOf({ id, n, group, ...source }, fields, claims);
      });
    },
  };
}
