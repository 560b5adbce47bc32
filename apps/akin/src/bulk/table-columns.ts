import { badRequest } from '@akin/domain';

/** The columns of a table that are more than a field. */
export interface TableColumns {
  readonly id: string;
  readonly picture?: string | undefined;
}

export type ColumnType = 'long' | 'double' | 'boolean' | 'date' | 'string' | 'string[]';

const MAX_NAMED = 20;

/**
 * Refuses a table without these columns, before its first row is read.
 *
 * @throws AkinError bad-request that lists the columns and names the option
 */
export function requireColumns(names: readonly string[], { id, picture }: TableColumns): void {
  const listed = names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ' …' : '');
  const options = { 'id-column': id, 'picture-column': picture };
  for (const [option, name] of Object.entries(options)) {
    if (name === undefined || names.includes(name)) continue;
    throw badRequest(`no column ${name}; columns are ${listed}: use --${option}`);
  }
  if (id !== 'id' && names.includes('id')) {
    throw badRequest(`--id-column ${id}: the values of the column id would be lost, so rename it`);
  }
}
