import type { Endpoints, ParametersOf } from '@akin/contract';
import { badRequest, Double, type Field, type Query, quote, unescapeBackslashes } from '@akin/domain';
import { scoreOf } from '@akin/modules/vectors';
import { type CollectionSchema, calibrationOf, findCollection, loadSchema, modelSetOf } from '@akin/store/database';
import { search } from '@akin/store/search';
import { hasSeveralPictures } from '../http/pictures.ts';
import type { Handler } from '../http/serve.ts';
import { rankOfInputs } from '../search/describe-query.ts';
import { literalName } from '../search/field-list.ts';
import { clockOf, parameterLookup, readFilters } from '../search/query-parameters.ts';
import { type RankInput, readRegion } from '../search/rank-inputs.ts';
import { requireModelForInputs } from '../search/require-model-for-inputs.ts';
import { type Voter, voteForTags } from '../search/tags.ts';
import { warnAboutDates } from '../search/warn-about-dates.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

type Parameters = ParametersOf<Endpoints['tag']>;

/** Documents with similar content vote. */
const VOTING_MODULE = 'content';
/** Number of nearest documents that vote. */
const VOTERS = 20;

export const tag: Handler<Parameters> = async ({ parameters, list, signal }, context) => {
  refuseUnsupported(list);
  const input = readInput(parameters, hasSeveralPictures('tagging.input.data', list, context.files));
  const parameter = parameterLookup(list);
  const filters = readFilters(parameters.fq, parameters, parameter).map(({ query }) => query);

  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const schema = await loadSchema(context.store, collection);
  await requireModelForInputs([input], VOTING_MODULE, collection, schema, context);
  // As in queries, a backslash escapes the next character.
  const field = labelField(unescapeBackslashes(parameters['tagging.field']), schema);
  const calibration = calibrationOf(context.store, collection, schema, VOTING_MODULE);
  const { rank, warnings } = await rankOfInputs(
    [input],
    { module: VOTING_MODULE, collection, models: modelSetOf(context.store, schema) },
    signal,
    context,
  );
  const question = {
    query: { kind: 'exists', field: field.name, position: 0 } as const,
    filters: input.kind === 'id' ? [...filters, excludingId(input.value)] : filters,
    rank,
    signal,
    rows: VOTERS,
    fields: [literalName(field.name)],
    ...clockOf(parameters),
  };
  const { hits } = await context.semaphores.searches.run(signal, context, () =>
    search(context.store, collection, question),
  );
  const voters = hits.map(({ id, distance, document }): Voter => {
    const value = document.get(field.name);
    const labels = Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)];
    return { id, score: scoreOf(VOTING_MODULE, distance as number, calibration), labels };
  });
  const { 'tagging.max': max, 'tagging.threshold': threshold } = parameters;
  const tags = voteForTags(voters).filter(({ confidence }) => confidence >= threshold);
  return {
    warnings: [...warnings, ...warnAboutDates(filters, schema.fields)],
    body: {
      tags: tags.slice(0, max).map((one) => ({
        tag: one.tag,
        confidence: new Double(one.confidence),
        voters: one.voters.map(({ id, score }) => ({ id, score: new Double(score) })),
      })),
      voters: voters.length,
    },
  };
};

function readInput(parameters: Parameters, several: boolean): RankInput {
  const kinds = { id: 'id', url: 'url', data: 'data', preprocessed: 'outputs' } as const;
  const inputs = Object.entries(kinds).flatMap(([name, kind]): RankInput[] => {
    const parameter = `tagging.input.${name}` as `tagging.input.${keyof typeof kinds}`;
    const value = parameters[parameter];
    return value ? [{ kind, parameter, value, weight: 1 }] : [];
  });
  const [input] = inputs;
  const region = readRegion(parameters['tagging.input.region'], 'tagging.input.region');
  if (region && input?.kind === 'outputs') {
    throw badRequest('tagging.input.region is a part of a picture: outputs have none.');
  }
  if (input !== undefined && inputs.length === 1 && !several) return { ...input, region };
  throw badRequest(
    'Give one picture to tag: tagging.input.id, tagging.input.url, tagging.input.data, tagging.input.preprocessed or a file.',
  );
}

/** @throws AkinError bad-request if there is no such field, or it contains no labels */
function labelField(name: string, { fields }: CollectionSchema): Field {
  const field = fields.get(name);
  if (field === undefined) {
    throw badRequest(`Parameter tagging.field: no document has a field ${quote(name)}.`);
  }
  if ((field.type === 'string' || field.type === 'strings') && field.returnedByDefault) return field;
  throw badRequest(
    `Parameter tagging.field: ${quote(name)} is not a String field: name a field whose values are labels.`,
  );
}

function excludingId(id: string): Query {
  const itself: Query = { kind: 'term', field: 'id', value: id, operator: 'OR', position: 0 };
  return { kind: 'bool', must: [{ kind: 'all' }], should: [], mustNot: [itself] };
}
