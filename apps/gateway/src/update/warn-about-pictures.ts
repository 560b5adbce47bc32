import { JsonObject, type JsonValue, nearestName } from '@akin/domain';
import type { Command } from './read-commands.ts';

/** Names under which other systems send the URL of a picture, in lower case without `_` and `-`. Flow 4 read `url`. */
const OTHER_NAMES = new Set(['url', 'img', 'imgurl', 'imageurl', 'picture', 'pictureurl']);

/** Names of the member with outputs. */
const IMPORTS = ['import', 'pxl_import'];

/**
 * Warns about documents with outputs that are not in `import`, and about documents without a picture that have a URL in a field whose name is nearly `image`, or that may be meant
 * to be the picture. akin only stores it.
 */
export async function* warnAboutPictures(commands: AsyncIterable<Command>): AsyncGenerator<Command> {
  for await (const command of commands) {
    if (command.kind === 'add' && hasOutputs(command.json)) {
      yield {
        kind: 'warning',
        msg: 'akin stores the field "outputs" and does not read outputs of an analysis from it. Send them as "import".',
      };
    }
    const name = command.kind === 'add' ? unreadPicture(command.json) : undefined;
    if (name !== undefined) {
      yield {
        kind: 'warning',
        msg: `akin stores the field ${JSON.stringify(name)} and does not read a picture from it. Send the URL of the picture as "image".`,
      };
    }
    yield command;
  }
}

function hasOutputs(json: JsonValue): boolean {
  return json instanceof JsonObject && !!json.get('outputs') && !IMPORTS.some((name) => json.get(name));
}

function unreadPicture(json: JsonValue): string | undefined {
  if (!(json instanceof JsonObject)) return undefined;
  if (['image', ...IMPORTS].some((name) => json.get(name))) return undefined;
  for (const [name, value] of json.entries) {
    if (typeof value === 'string' && /^https?:/i.test(value) && isLikeImage(name)) return name;
  }
  return undefined;
}

function isLikeImage(name: string): boolean {
  return OTHER_NAMES.has(name.toLowerCase().replace(/[_-]/g, '')) || nearestName(name, ['image']) !== undefined;
}
