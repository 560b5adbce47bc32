import { titleOfFile as title } from '@akin/domain';

/**
 * The title that akin gives a picture of a folder: the words of its file name.
 *
 * @param path of the file, with `/` between folders
 */
export function titleOfFile(path: string): string {
  return title(path);
}
