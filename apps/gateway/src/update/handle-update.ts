import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, badRequest, type ErrorDetail, parseVersion, VERSION_FIELD, withErrorContext } from '@akin/domain';
import { parseModulesApply } from '@akin/modules/manifests';
import { inSpan, traceparent } from '@akin/runtime';
import { type AcceptedRange, lastOperation, type Operation } from '@akin/store/changes';
import { type Collection, findCollection } from '@akin/store/database';
import type { Context } from '../context.ts';
import type { JsonResult } from '../http/handler-result.ts';
import { MULTIPART_TYPE } from '../http/multipart.ts';
import { FORM_TYPE, isJsonType, isXmlType, LINES_TYPES, unsupportedBody } from '../http/read-request.ts';
import type { Call } from '../http/serve.ts';
import type { ParameterList } from '../parameters/parameters.ts';
import { parseFlag } from '../parameters/parse-flag.ts';
import { readXmlCommands } from '../solr/read-xml-commands.ts';
import { OFF, refuseUnsupported } from '../solr/refused-parameters.ts';
import { finishUpdate, planCommit } from './finish-update.ts';
import { limitToKey } from './limit-to-key.ts';
import { type Command, overwriteError, readCommands, readLines, rollbackError } from './read-commands.ts';
import { readUpload } from './read-upload.ts';
import { type StagedBody, stageBody } from './stage.ts';
import { writeToken } from './token.ts';
import { warnAboutPictures } from './warn-about-pictures.ts';

type Parameters = ParametersOf<Endpoints['update']>;

interface AcceptedBodies {
  /** Given if JSON is accepted: what a single object means. */
  readonly json?: 'document' | 'commands';
  readonly xml: boolean;
}

/** The steps of every update: validate, accept, wait for analysis, commit. */
export async function handleUpdate(
  call: Call<Parameters>,
  accepts: AcceptedBodies,
  context: Context,
): Promise<JsonResult> {
  const { parameters } = call;
  refuseParameters(call.list);
  const modules =
    parameters['modules.apply'] === undefined ? undefined : parseModulesApply(parameters['modules.apply']);
  const { tombstones, versions, maxErrors, _version_: version } = parameters;
  const expectedVersion =
    version === undefined ? undefined : withErrorContext(VERSION_FIELD, () => parseVersion(version.trim()));
  const collection = await findCollection(context.store, parameters.collection);

  const sent = readBody(call, accepts, collection, modules, context);
  const commands = warnAboutPictures(limitToKey(sent, context.store.keyFilter));
  const origin = { requestId: call.requestId, traceparent: traceparent() };
  const staged = await inSpan('stage', {}, async (span) => {
    const body = await stageBody(
      commands,
      collection,
      { modules, tombstones, expectedVersion, versions, maxErrors, origin },
      call.signal,
      context,
    );
    span.set({ 'akin.changes': body.count, 'akin.pictures': body.pictures });
    return body;
  });
  const plan = planCommit(parameters, staged.commits);
  refuseEmpty(call, staged, plan.publish || plan.withinMilliseconds !== undefined || asksForCommit(call.list));

  const accepted = await accept(staged, maxErrors !== undefined, collection, context);
  if (accepted) {
    const { requestId } = call;
    context.log.info({ requestId, collection: collection.name, ...presentRange(collection, accepted) }, 'accepted');
  }
  if (plan.withinMilliseconds !== undefined) context.scheduleCommit(collection.name, plan.withinMilliseconds);
  const header = {
    // Without its own changes, the token covers everything that was accepted before.
    token: writeToken(collection, accepted ?? { first: 1, last: await lastOperation(context.store, collection) }),
    errors: maxErrors === undefined ? undefined : staged.leftOut,
    maxErrors,
  };
  const warnings = [...staged.warnings];
  const body = accepted
    ? {
        operations: presentRange(collection, accepted),
        adds: versions ? staged.ids.flatMap(({ id, index }) => [id, accepted.first + index]) : undefined,
      }
    : {};
  const own = accepted ?? { first: 1, last: 0 };
  if (parameters.async) {
    context.background('a commit after an asynchronous request', async (signal) => {
      if (plan.publish) await finishUpdate(collection, own, plan, signal, context, { isWaitedFor: false });
    });
    return { status: 202, header, warnings, body };
  }

  const failed = await finishUpdate(collection, own, plan, call.signal, context);
  if (failed.length === 0) return { header, warnings, body };
  const details = failed.map((operation) => staged.places.inBody(presentFailure(operation)));
  const rest = (accepted?.count ?? 0) > failed.length ? ' The others are accepted.' : '';
  const message = `${details[0]?.msg}${failed.length > 1 ? ` ${failed.length} pictures could not be analyzed.` : ''}${rest}`;
  return {
    status: 422,
    header,
    warnings,
    body,
    partial: { code: details[0]?.code ?? 'image-undecodable', message, details },
  };
}

/**
 * Parameters of Solr's `/update/json/docs` that make documents from parts of others, or (`echo`) only show the result.
 * Each is allowed only with a value that changes nothing.
 */
const TRANSFORM_PARAMETERS = {
  split: /^\/?$/,
  f: /^(\$FQN:)?(\/\*\*)?$/,
  srcField: /^$/,
  mapUniqueKeyOnly: OFF,
  echo: OFF,
};

/** @throws AkinError bad-request for parameters that would change the meaning of the update */
function refuseParameters(list: ParameterList): void {
  refuseUnsupported(list, { allowed: ['json.command'], more: TRANSFORM_PARAMETERS });
  for (const [name, value] of list) {
    if (name === 'overwrite' && parseFlag(value) === false) throw overwriteError();
    if (name === 'rollback' && parseFlag(value) === true) throw rollbackError();
  }
}

/** The commands of the body. A form contains none, only parameters, which were read before. */
async function* readBody(
  call: Call<Parameters>,
  accepts: AcceptedBodies,
  collection: Collection,
  modules: readonly string[] | undefined,
  context: Context,
): AsyncGenerator<Command> {
  const { body } = call;
  if (!body.mayHaveBody || body.type === FORM_TYPE) return;
  if (body.type === 'application/javabin') {
    throw new AkinError(
      'unsupported-media-type',
      'akin does not read javabin updates: set a request writer for XML in the client (SolrJ: setRequestWriter(new XMLRequestWriter()), before version 10 new RequestWriter()).',
    );
  }
  const bytes = () => body.bytes(context.limits.updateBytes);
  if (accepts.xml && isXmlType(body.type)) yield* readXmlCommands(bytes());
  else if (accepts.json && isJsonType(body.type)) {
    yield* readCommands(bytes(), accepts.json === 'document' ? 'documents' : 'commands', {
      ignoresEmptyObject: asksForCommit(call.list),
    });
  } else if (accepts.json && LINES_TYPES.includes(body.type)) {
    yield* readLines(bytes());
  } else if (accepts.json && body.type === MULTIPART_TYPE) {
    yield* readUpload({ ...call, ...call.parameters }, collection, modules, context);
  } else {
    const wanted = [...(accepts.json ? ['application/json'] : []), ...(accepts.xml ? ['application/xml'] : [])];
    const also = accepts.json ? `, application/x-ndjson or ${MULTIPART_TYPE}` : '';
    throw unsupportedBody(body, `${wanted.join(' or ')}${also}`);
  }
}

function asksForCommit(list: ParameterList): boolean {
  const asking = ['commit', 'softCommit', 'prepareCommit', 'optimize', 'commitWithin'];
  return list.some(([name]) => asking.includes(name));
}

/** @throws AkinError bad-request if the request asks for nothing: its body was probably lost on the way */
function refuseEmpty(call: Call<Parameters>, staged: StagedBody, commits: boolean): void {
  if (staged.staging || staged.commits.length > 0 || commits || call.body.mayHaveBody) return;
  throw badRequest('The update is empty: send documents or commands as a body of JSON or XML, or ask for commit=true.');
}

/** @param isTolerant whether documents that cannot be taken are left out */
async function accept(
  staged: StagedBody,
  isTolerant: boolean,
  collection: Collection,
  context: Context,
): Promise<AcceptedRange | undefined> {
  let accepted: AcceptedRange | undefined;
  try {
    accepted = await staged.places.correctError(() => staged.staging?.accept());
  } catch (error) {
    staged.discard();
    if (!isTolerant || !(error instanceof AkinError) || error.code !== 'bad-request' || error.details.length === 0) {
      throw error;
    }
    // Staged documents cannot be left out any more. When they are sent again, the types are known from the start.
    const msg = `Another client has just defined a field. Nothing was accepted: send the request again. ${error.message}`;
    throw new AkinError('unavailable', msg, { cause: error, retryAfterSeconds: 1 });
  }
  staged.releaseSlot();
  if (accepted) {
    context.backlogQuota.record(collection, staged.count, staged.pictures);
    context.wake();
  }
  return accepted;
}

function presentRange(collection: Collection, { first, last, count }: AcceptedRange) {
  return { first: `${collection.name}-${first}`, last: `${collection.name}-${last}`, count };
}

function presentFailure({ id, position, error }: Operation): ErrorDetail {
  return {
    position,
    ...(id === null ? {} : { id }),
    code: error?.code ?? 'internal',
    msg: `Document ${JSON.stringify(id ?? '')} at position ${position}: ${error?.msg ?? 'its analysis failed.'}`,
  };
}
