export interface ShownRequest {
  readonly form: 'curl' | 'typescript' | 'python' | 'json';
  readonly text: string;
}
