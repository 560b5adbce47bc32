import {
  AkinError,
  badRequest,
  formatThumbnail,
  JsonNumber,
  JsonObject,
  type JsonValue,
  parseJson,
  TypeClaims,
  validateDocument,
} from '@akin/domain';
import { moduleNames } from '@akin/modules/manifests';
import type { Reservation } from '@akin/runtime';
import { appliedModules, type Collection, loadSchema } from '@akin/store/database';
import type { Context } from '../context.ts';
import type { Body } from '../http/body.ts';
import { type Part, readMultipart, textOf } from '../http/multipart.ts';
import { checkPart, FILE_PART, readReserved } from '../http/pictures.ts';
import { analyzePicture } from '../search/analyze-picture.ts';
import { contentModelOf } from '../search/content-model.ts';
import type { Command } from './read-commands.ts';

const DOCUMENT_PART = 'document';
/** The same limit as for any other document. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
/** More parts than these two are refused by name. */
const MAX_PARTS = 10;
/** Members that a document with a picture may not have. */
const OUTPUTS = ['import', 'pxl_import', 'thumbnail'];

interface Upload {
  readonly body: Body;
  readonly reservation: Reservation;
  readonly async: boolean;
  /** Whether the document also gets the fields that the file tells. */
  readonly fields: boolean;
  readonly signal: AbortSignal;
}

/**
 * The document of a multipart body with its picture, which is analyzed here, before anything is accepted. The document
 * gets outputs and thumbnail, as if it had been imported.
 *
 * @param modules the modules that analyze the picture; undefined: all
 * @throws AkinError bad-request for other parts; errors of the analysis of the picture
 */
export async function* readUpload(
  { body, reservation, async, fields: wantsFields, signal }: Upload,
  collection: Collection,
  modules: readonly string[] | undefined,
  context: Context,
): AsyncGenerator<Command> {
  if (async) {
    throw badRequest('A picture that is sent with its document is analyzed at once: remove async.');
  }
  const { document, file, name } = await readParts(body, reservation, signal, context);
  if (await isValid(document, collection, context)) {
    const picture = { bytes: file };
    const wanted = modules ?? appliedModules(context.store, collection) ?? moduleNames;
    const {
      outputs,
      thumbnail,
      fields = {},
    } = await analyzePicture(picture, FILE_PART, wanted, signal, context, {
      thumbnail: true,
      ...(wantsFields ? { facts: { name } } : {}),
      model: await contentModelOf(context.store, collection),
    });
    const more: [string, JsonValue][] = [['import', outputs]];
    if (thumbnail) more.push(['thumbnail', formatThumbnail(thumbnail)]);
    const read = wantsFields
      ? await acceptedFields(document, { bytes: file.length, ...fields }, collection, context)
      : [];
    yield { kind: 'add', position: 0, json: new JsonObject([...document.entries, ...read, ...more]) };
  } else {
    // The caller of the command reports the error.
    yield { kind: 'add', position: 0, json: document };
  }
}

async function readParts(
  body: Body,
  reservation: Reservation,
  signal: AbortSignal,
  { limits }: Context,
): Promise<{ document: JsonObject; file: Uint8Array; name: string | undefined }> {
  const chunks = readReserved(body, limits.multipartBytes, reservation, limits);
  const check = (name: string, bytes: number) => {
    checkPart(name, bytes, limits);
    if (name === FILE_PART || bytes <= MAX_DOCUMENT_BYTES) return;
    throw new AkinError('too-large', `The part "${DOCUMENT_PART}" has more than ${MAX_DOCUMENT_BYTES} bytes.`);
  };
  const parts = await readMultipart(body.contentType, chunks, { parts: MAX_PARTS, check }, signal);
  const [document, file] = [DOCUMENT_PART, FILE_PART].map((name) => parts.filter((part) => part.name === name));
  const [text] = document ?? [];
  const [picture] = file ?? [];
  if (text === undefined || picture === undefined || parts.length !== 2) {
    throw badRequest(
      `A multipart update takes one part "${DOCUMENT_PART}" (JSON, one document) and one part "${FILE_PART}" (a picture), and parameters such as commit=true in the URL.`,
    );
  }
  if (picture.bytes.length === 0) throw badRequest(`The part "${FILE_PART}" is empty.`);
  return { document: parseDocument(text), file: picture.bytes, name: picture.fileName };
}

function parseDocument(part: Part): JsonObject {
  const json = parseJson(textOf(part));
  if (!(json instanceof JsonObject)) {
    throw badRequest(`The part "${DOCUMENT_PART}" must be one document: a JSON object.`);
  }
  const given = OUTPUTS.find((name) => json.entries.some(([key, value]) => key === name && value !== null));
  if (given === undefined) return json;
  throw badRequest(`The document has "${given}", which the analysis of the file sets: remove it.`);
}

/**
 * The fields of the file that the document does not have itself, and that its collection takes: a field may have
 * another type there. The keywords are labels, too.
 */
async function acceptedFields(
  document: JsonObject,
  fields: Readonly<Record<string, string | number>>,
  collection: Collection,
  { store }: Context,
): Promise<[string, JsonValue][]> {
  const given = new Set(document.entries.map(([name]) => name));
  const { keywords } = fields;
  const labels: [string, JsonValue][] = typeof keywords === 'string' ? [['labels', keywords.split('; ')]] : [];
  const schema = await loadSchema(store, collection);
  const read = Object.entries(fields).map(([name, value]): [string, JsonValue] => [
    name,
    typeof value === 'number' ? new JsonNumber(String(value)) : value,
  ]);
  const isTaken = (entry: [string, JsonValue]) =>
    'document' in validateDocument(new JsonObject([['id', 'any'], entry]), 0, schema.fields, new TypeClaims());
  return [...read, ...labels].filter((entry) => !given.has(entry[0]) && isTaken(entry));
}

/** A document that is refused anyway needs no analysis. */
async function isValid(document: JsonObject, collection: Collection, { store }: Context): Promise<boolean> {
  const { fields } = await loadSchema(store, collection);
  const imported = new JsonObject([...document.entries, ['import', '{}']]);
  return 'document' in validateDocument(imported, 0, fields, new TypeClaims());
}
