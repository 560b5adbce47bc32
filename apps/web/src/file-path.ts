import type { FoundDocument } from '@akin/client';

/** Undefined if it did not come from a folder. */
export function pathOf({ id, source, path }: FoundDocument): string | undefined {
  if (typeof source !== 'string') return undefined;
  const separator = separatorOf(source);
  const below = typeof path === 'string' ? path : id;
  return `${source.replace(/[\\/]$/, '')}${separator}${below.replaceAll('/', separator)}`;
}

/** Undefined if it did not come from a folder. */
export function folderPathOf(document: FoundDocument): string | undefined {
  const path = pathOf(document);
  return path?.slice(0, path.lastIndexOf(separatorOf(path)));
}

/** Whether its file was gone when akin last looked. */
export function isMissing({ missing }: FoundDocument): boolean {
  return missing === true;
}

function separatorOf(path: string): string {
  return path.includes('\\') && !path.startsWith('/') ? '\\' : '/';
}
