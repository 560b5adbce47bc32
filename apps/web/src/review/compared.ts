/** The group that is being compared, and its member that is visible. */
export interface Compared {
  readonly group: string;
  readonly at: number;
}
