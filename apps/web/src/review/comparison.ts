/** The group that is being compared, and its member that is visible. */
export interface Comparison {
  readonly group: string;
  readonly at: number;
}
