import type { Endpoints, ParametersOf } from '@akin/contract';
import { type Calibration, Double } from '@akin/domain';
import { GROUP_MODULE, GROUP_SCORE, groupRule, scoreOf } from '@akin/modules/vectors';
import { calibrationOf, findCollection, type Group, listGroups, loadSchema } from '@akin/store';
import { readIdCursor, writeIdCursor } from '../http/id-cursor.ts';
import type { Handler } from '../http/serve.ts';
import { type FieldList, readFieldList, requestedDistances } from '../search/field-list.ts';
import { fieldNames } from '../search/handle-search.ts';
import { presentDocument } from '../search/present.ts';
import { parameterLookup, readFilters } from '../search/query-parameters.ts';
import { warningsAboutDates } from '../search/warn-about-dates.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

/** A page of the groups of near-duplicates, and the commit up to which they are current. */
export const groups: Handler<ParametersOf<Endpoints['groups']>> = async ({ parameters, list, signal }, context) => {
  refuseUnsupported(list);
  const parameter = parameterLookup(list);
  const filters = readFilters(parameters.fq, parameters, parameter).map(({ query }) => query);
  const fields: FieldList = { ...readFieldList(parameters.fl, true, parameter), score: true };
  const after = parameters.cursor === undefined ? undefined : readIdCursor(parameters.cursor);

  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const schema = await loadSchema(context.store, collection);
  const calibration = calibrationOf(context.store, collection, schema, GROUP_MODULE);
  // Otherwise groups would not be updated, and a client that waits for `asOfCommit` would wait forever.
  calibrationOf(context.store, collection, schema, groupRule().secondModule.module);
  const { names, hidden } = fieldNames(fields, schema);
  const wanted = {
    filters,
    rows: parameters.limit ?? parameters.rows,
    members: parameters['group.limit'],
    membersFrom: parameters['group.offset'],
    id: parameters['group.id'],
    after,
    fields: names,
    distances: requestedDistances(fields),
    ...(parameters.NOW === undefined ? {} : { now: new Date(parameters.NOW) }),
    ...(parameters.TZ === undefined ? {} : { timeZone: parameters.TZ }),
  };
  const page = await context.semaphores.searches.run(signal, context, () =>
    listGroups(context.store, collection, wanted),
  );
  return {
    header: warningsAboutDates(filters, schema.fields),
    body: {
      commit: page.commit,
      asOfCommit: page.asOfCommit,
      threshold: new Double(GROUP_SCORE),
      numFound: page.numFound,
      numFoundExact: page.numFoundExact,
      groups: page.groups.map((group) => presentGroup(group, fields, hidden, calibration)),
      ...(page.next === undefined ? {} : { nextCursor: writeIdCursor(page.next) }),
    },
  };
};

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
