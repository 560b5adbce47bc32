import { badRequest, type Calibration, Double } from '@akin/domain';
import { GROUP_MODULE, GROUP_SCORE, groupRule, partScore, scoreOf } from '@akin/modules/vectors';
import { calibrationOf, findCollection, loadSchema } from '@akin/store/database';
import {
  decideGroups as decide,
  type Group,
  listDecisions,
  listGroups,
  listPartPairs,
  type PartPair,
} from '@akin/store/maintenance';
import { readIdCursor, readPairCursor, writeIdCursor, writePairCursor } from '../http/id-cursor.ts';
import type { HandlerFor } from '../http/serve.ts';
import { type FieldList, fieldNames, readFieldList, requestedDistances } from '../search/field-list.ts';
import { presentBox, warnWithoutParts } from '../search/parts.ts';
import { presentDocument } from '../search/present.ts';
import { clockOf, parameterLookup, readFilters } from '../search/query-parameters.ts';
import { warnAboutDates } from '../search/warn-about-dates.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

export const groups: HandlerFor<'groups'> = async ({ parameters, list, signal }, context) => {
  refuseUnsupported(list);
  const parameter = parameterLookup(list);
  const filters = readFilters(parameters.fq, parameters, parameter).map(({ query }) => query);
  const fields: FieldList = { ...readFieldList(parameters.fl, true, parameter), score: true };
  const { cursor } = parameters;
  const isOfParts = parameters.kind === 'parts';
  const after = cursor === undefined || isOfParts ? undefined : readIdCursor(cursor);
  const afterPair = cursor !== undefined && isOfParts ? readPairCursor(cursor) : undefined;

  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const schema = await loadSchema(context.store, collection);
  const { names, hidden } = fieldNames(fields, schema.fields);
  const shown = {
    filters,
    rows: parameters.limit ?? parameters.rows,
    fields: names,
    distances: requestedDistances(fields),
    ...clockOf(parameters),
  };
  const warnings = warnAboutDates(filters, schema.fields);
  const inSlot = <T>(work: () => Promise<T>) => context.semaphores.searches.run(signal, context, work);
  if (isOfParts) {
    const page = await inSlot(() => listPartPairs(context.store, collection, { ...shown, after: afterPair }));
    return {
      warnings: [...warnings, ...warnWithoutParts(collection, context)],
      body: {
        commit: page.commit,
        asOfCommit: page.asOfCommit,
        threshold: new Double(GROUP_SCORE),
        numFound: page.numFound,
        numFoundExact: page.asOfCommit === page.commit,
        pairs: page.pairs.map((pair) => presentPair(pair, { ...fields, score: false }, hidden)),
        nextCursor: page.next && writePairCursor(page.next),
      },
    };
  }
  const calibration = calibrationOf(context.store, collection, schema, GROUP_MODULE);
  // Otherwise groups would not be updated, and a client that waits for `asOfCommit` would wait forever.
  calibrationOf(context.store, collection, schema, groupRule().secondModule.module);
  const wanted = {
    ...shown,
    members: parameters['group.limit'],
    membersFrom: parameters['group.offset'],
    id: parameters['group.id'],
    after,
  };
  const page = await inSlot(() => listGroups(context.store, collection, wanted));
  return {
    warnings,
    body: {
      commit: page.commit,
      asOfCommit: page.asOfCommit,
      threshold: new Double(GROUP_SCORE),
      numFound: page.numFound,
      numFoundExact: page.numFoundExact,
      groups: page.groups.map((group) => presentGroup(group, fields, hidden, calibration)),
      nextCursor: page.next && writeIdCursor(page.next),
    },
  };
};

function presentPair({ part, whole, strength, box, isCopy }: PartPair, fields: FieldList, hidden: ReadonlySet<string>) {
  const document = ({ id, ...shown }: PartPair['part']) =>
    new Map([['id', id], ...presentDocument({ ...shown, score: undefined }, fields, hidden)]);
  return {
    part: document(part),
    whole: document(whole),
    copy: isCopy,
    score: new Double(partScore(strength)),
    parts_box: presentBox(box, 'whole', 'part'),
  };
}

function presentGroup(
  { id, size, members }: Group,
  fields: FieldList,
  hidden: ReadonlySet<string>,
  calibration: Calibration | undefined,
) {
  const scored = members.map((member) => ({ ...member, score: scoreOf(GROUP_MODULE, member.distance, calibration) }));
  return {
    id,
    representative: id,
    size,
    // The id is always among them, whatever fields were requested.
    members: scored.map((member) => new Map([['id', member.id], ...presentDocument(member, fields, hidden)])),
    pairs: scored
      .filter((member) => member.id !== id)
      .map((member) => ({ ids: [id, member.id], score: new Double(member.score) })),
  };
}

export const groupDecisions: HandlerFor<'groupDecisions'> = async ({ parameters }, { store }) => {
  const { rows, cursor } = parameters;
  const after = cursor === undefined ? undefined : readPairCursor(cursor);
  const collection = await findCollection(store, parameters.collection);
  const { decisions, next } = await listDecisions(store, collection, { limit: rows, after });
  const list = decisions.map((ids) => ({ ids, decision: 'different' }));
  return { body: { decisions: list, nextCursor: next && writePairCursor(next) } };
};

export const decideGroups: HandlerFor<'decideGroups'> = async ({ parameters }, { store }) => {
  const ids = [...new Set(parameters.ids)];
  if (ids.length < 2) throw badRequest('Parameter ids must name at least two different documents.');
  const decision = parameters.decision === 'null' ? null : parameters.decision;
  const collection = await findCollection(store, parameters.collection);
  await decide(store, collection, ids, decision);
  return { body: { ids, decision } };
};
