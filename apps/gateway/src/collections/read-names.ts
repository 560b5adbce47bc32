/** The names in a list with commas between them. */
export function readNames(list: string): string[] {
  return list.split(',').flatMap((name) => name.trim() || []);
}
