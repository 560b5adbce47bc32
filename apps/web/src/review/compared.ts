/** Which member of which group stands in the place where all of its members are shown in turn. */
export interface Compared {
  readonly group: string;
  readonly at: number;
}
