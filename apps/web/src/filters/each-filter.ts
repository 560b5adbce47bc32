/** The filter that shows one picture for each value of a field, and all pictures without a value. */
export function eachFilter(field: string): string {
  return `{!collapse field='${field.replace(/[\\']/g, '\\$&')}' nullPolicy=expand}`;
}

export function eachFieldOf(filter: string): string | undefined {
  return /^\{!collapse field='((?:[^\\']|\\.)*)' nullPolicy=expand\}$/s.exec(filter)?.[1]?.replace(/\\(.)/gs, '$1');
}

export function eachField(filters: readonly string[]): string | undefined {
  return filters.map(eachFieldOf).find((field) => field !== undefined);
}

/** The parameters that count the pictures that are left out. */
export function othersParameters(filters: readonly string[]) {
  return eachField(filters) === undefined ? {} : { expand: true, 'expand.rows': 0 };
}
