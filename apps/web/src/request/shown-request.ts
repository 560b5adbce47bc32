/** A request, or its response, as text. */
export interface ShownRequest {
  readonly form: 'curl' | 'typescript' | 'python' | 'json';
  readonly text: string;
}
