import { type Html, html } from './html.ts';
import { page } from './page.ts';

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** References to parameters. */
  readonly parameters: readonly { readonly $ref: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

/** The OpenAPI document as one page, which works offline. */
export function renderDocs(document: Record<string, unknown>, legacySegment: string): string {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const { parameters } = document.components as { parameters: Record<string, Parameter> };
  const parameterOf = ({ $ref }: { $ref: string }) =>
    parameters[$ref.replace('#/components/parameters/', '')] as Parameter;
  const sections = Object.entries(paths).flatMap(([path, item]) => sectionsOf(path, item));
  const contents = sections.map(
    ({ name, operation }, index) =>
      html`<li><a href="#${index + 1}"><code>${name}</code></a><br>${prose(operation.summary)}</li>`,
  );
  return page(
    'akin: the HTTP interface',
    html`<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>, for old clients <a href="/openapi-legacy.json">/openapi-legacy.json</a>. Every path below <code>/api/cores</code> works below <code>/${legacySegment}</code> too. Send parameters in the address or in a form body.</p><ul class="contents">${contents}</ul>${sections.map((section, index) => renderSection(section, index, parameterOf))}`,
  );
}

interface Section {
  /** Methods and address. */
  readonly name: string;
  readonly operation: Operation;
}

/** Groups the methods that do the same. */
function sectionsOf(path: string, item: Record<string, Operation>): Section[] {
  return groupAlike(Object.keys(item), (method) => JSON.stringify(item[method]?.summary)).map((alike) => ({
    name: `${alike.map((method) => method.toUpperCase()).join(' · ')} ${path}`,
    operation: item[alike.at(-1) as string] as Operation,
  }));
}

function renderSection(
  { name, operation }: Section,
  index: number,
  parameterOf: (reference: { $ref: string }) => Parameter,
): Html {
  const bodies = Object.keys(operation.requestBody?.content ?? {}).map((type) => html` <code>${type}</code>`);
  return html`<h2 id="${index + 1}"><code>${name}</code></h2>
<p>${prose(operation.summary)} ${prose(operation.description ?? '')}</p>
${bodies.length > 0 ? html`<p>Body:${bodies}</p>` : ''}
<table class="parameters">${operation.parameters.map(parameterOf).map(renderParameter)}</table>
`;
}

function renderParameter({ name, required, description, schema }: Parameter): Html {
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
  return html`<tr><th>${name}</th><td>${notes.filter(Boolean).join(', ')}</td><td>${prose(description ?? '')}</td></tr>`;
}

/** A limit above this matters to nobody. */
const UNBOUNDED = 1e12;

/** Text in backticks is code. */
function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function groupAlike(names: readonly string[], key: (name: string) => string): string[][] {
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(key(name), [...(groups.get(key(name)) ?? []), name]);
  return [...groups.values()];
}
