import { escapeHtml, page } from './page.ts';

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

/** The OpenAPI document as one page for people, which works without a network. */
export function renderDocs(document: Record<string, unknown>, legacySegment: string): string {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const sections = Object.entries(paths)
    .filter(([path]) => !path.startsWith(`/${legacySegment}/`) && path !== `/${legacySegment}`)
    .flatMap(([path, item]) => sectionsOf(path, item));
  const contents = sections.map(
    ({ name, operation }, index) =>
      `<li><a href="#${index + 1}"><code>${escapeHtml(name)}</code></a><br>${prose(operation.summary)}</li>`,
  );
  return page(
    'akin: the HTTP interface',
    `<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. Everything below <code>/api/cores</code> answers below <code>/${escapeHtml(legacySegment)}</code> too. Parameters come in the address or in a form body alike.</p><ul class="contents">${contents.join('')}</ul>${sections.map(renderSection).join('\n')}`,
  );
}

interface Section {
  /** Methods and address. */
  readonly name: string;
  readonly operation: Operation;
}

/** Methods that do the same stand together. */
function sectionsOf(path: string, item: Record<string, Operation>): Section[] {
  return groupAlike(Object.keys(item), (method) => JSON.stringify(item[method]?.summary)).map((alike) => ({
    name: `${alike.map((method) => method.toUpperCase()).join(' · ')} ${path}`,
    operation: item[alike.at(-1) as string] as Operation,
  }));
}

function renderSection({ name, operation }: Section, index: number): string {
  const bodies = Object.keys(operation.requestBody?.content ?? {});
  return [
    `<h2 id="${index + 1}"><code>${escapeHtml(name)}</code></h2>`,
    `<p>${prose(operation.summary)} ${prose(operation.description ?? '')}</p>`,
    bodies.length > 0 ? `<p>Body: <code>${bodies.map(escapeHtml).join('</code>, <code>')}</code></p>` : '',
    `<table class="parameters">${operation.parameters.map(renderParameter).join('')}</table>`,
  ].join('');
}

function renderParameter({ name, required, description, schema }: Parameter): string {
  const several = schema.type === 'array';
  const { type, enum: words, minimum, maximum } = (several ? schema.items : schema) as Parameter['schema'];
  const range = [minimum, maximum].filter((bound) => bound !== undefined && Number(bound) < UNBOUNDED);
  const notes = [
    required ? 'required' : '',
    Array.isArray(words) ? words.join(' | ') : String(type ?? ''),
    range.length === 2 ? range.join(' to ') : '',
    several ? 'may repeat' : '',
    schema.default === undefined || several ? '' : `default ${String(schema.default)}`,
  ];
  return `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(notes.filter(Boolean).join(', '))}</td><td>${prose(description ?? '')}</td></tr>`;
}

/** A limit beyond this is none that a person meets. */
const UNBOUNDED = 1e12;

/** What stands between backticks is code. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function groupAlike(names: readonly string[], key: (name: string) => string): string[][] {
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(key(name), [...(groups.get(key(name)) ?? []), name]);
  return [...groups.values()];
}
