/**
 * The title of a picture, made from the name of its file: the words of the name, without its ending. `_`, `-`, `.`,
 * changes of case as in `camelCase`, and digits part words. So a search for the word `dog` finds `dog_1703.jpg`.
 *
 * @param path the path of the file, with `/` between folders
 * @returns the name itself if nothing of it is a word
 */
export function titleOfFile(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const words = name
    .replace(/(?<=.)\.[^.]+$/, '')
    .replace(/[\s_.\-\u2010-\u2015]+/g, ' ')
    .replace(/(?<=\p{Ll}\p{M}*)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .replace(/(?<=\p{L}\p{M}*)(?=\p{Nd})|(?<=\p{Nd})(?=\p{L})/gu, ' ')
    .trim();
  return words || name;
}
