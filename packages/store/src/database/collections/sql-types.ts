import type { FieldType } from '@akin/domain';

const SQL_TYPES: Partial<Record<FieldType, string>> = {
  boolean: 'boolean',
  long: 'bigint',
  double: 'double precision',
  date: 'timestamptz',
  string: 'text collate "C"',
  strings: 'text[] collate "C"',
  longs: 'bigint[]',
  doubles: 'double precision[]',
  dates: 'timestamptz[]',
};

export function sqlType(type: FieldType): string {
  const sql = SQL_TYPES[type];
  if (sql === undefined) throw new Error(`no column holds a field of type ${type}`);
  return sql;
}
