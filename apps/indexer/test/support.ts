import { parseJson, TypeClaims, validateDocument } from '@akin/domain';
import { openStore } from '@akin/store';
import { type AcceptedRange, Staging, type Store } from '@akin/store/changes';
import { type Collection, loadSchema } from '@akin/store/database';

/** A store without modules: outputs are stored unchanged, and none of them is a field. */
export function openTestStore(databaseUrl: string): Promise<Store> {
  return openStore({
    databaseUrl,
    modules: [],
    parseOutputs: () => ({ fields: new Map(), descriptors: new Map() }),
    descriptorTexts: () => new Map(),
    graceMilliseconds: 0,
  });
}

/** Accepts documents as one request. */
export async function accept(
  store: Store,
  collection: Collection,
  documents: readonly object[],
): Promise<AcceptedRange> {
  const { fields } = await loadSchema(store, collection);
  const claims = new TypeClaims();
  const staging = new Staging(store, collection);
  for (const [position, document] of documents.entries()) {
    const validated = validateDocument(parseJson(JSON.stringify(document)), position, fields, claims);
    if ('errors' in validated) throw new Error(validated.errors[0]?.msg);
    claims.add(validated.newTypes);
    const { import: text, ...own } = validated.document;
    const outputs = text === undefined ? {} : { outputs: store.parseOutputs(text) };
    await staging.add([{ kind: 'add', document: own, ...outputs }]);
  }
  return staging.accept();
}
