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
    .map(([path, item]) => renderPath(path, item));
  return page(
    'akin: the HTTP interface',
    `<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. Everything below <code>/api/cores</code> answers below <code>/${escapeHtml(legacySegment)}</code> too. Parameters come in the address or in a form body alike.</p>${sections.join('\n')}`,
  );
}

function renderPath(path: string, item: Record<string, Operation>): string {
  const methods = Object.keys(item);
  return groupAlike(methods, (method) => JSON.stringify(item[method]?.summary))
    .map((alike) => {
      const operation = item[alike.at(-1) as string] as Operation;
      const bodies = Object.keys(operation.requestBody?.content ?? {});
      return [
        `<h2><code>${alike.map((method) => method.toUpperCase()).join(' · ')} ${escapeHtml(path)}</code></h2>`,
        `<p>${prose(operation.summary)} ${prose(operation.description ?? '')}</p>`,
        bodies.length > 0 ? `<p>Body: <code>${bodies.map(escapeHtml).join('</code>, <code>')}</code></p>` : '',
        `<table>${operation.parameters.map(renderParameter).join('')}</table>`,
      ].join('');
    })
    .join('');
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
