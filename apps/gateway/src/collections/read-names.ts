/** The names in a list that is separated by commas. */
export function readNames(list: string): string[] {
  return list.split(',').flatMap((name) => name.trim() || []);
}
