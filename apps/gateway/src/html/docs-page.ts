import { renderExamples } from './docs-examples.ts';
import { DOCS_SCRIPT } from './docs-script.ts';
import { type Html, html } from './html.ts';
import { page, pageHeaders } from './page.ts';

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Required scopes, one scheme each. Empty if no key is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly { readonly $ref: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

/** Methods of one path that do the same. */
interface Section {
  readonly path: string;
  readonly methods: readonly string[];
  readonly operation: Operation;
}

/** The headers of the page: its script is allowed by its hash, and may call only this server. */
export const DOCS_HEADERS = pageHeaders({
  'script-src': [DOCS_SCRIPT],
  'connect-src': "'self'",
  'img-src': "'self' blob:",
});

export function renderDocs(document: Record<string, unknown>, legacySegment: string): string {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const { parameters } = document.components as { parameters: Record<string, Parameter> };
  const parameterOf = ({ $ref }: { $ref: string }) =>
    parameters[$ref.replace('#/components/parameters/', '')] as Parameter;
  const sections = Object.entries(paths).flatMap(([path, item]) => sectionsOf(path, item));
  const groups = (document.tags as readonly { name: string; description: string }[]).map(({ name, description }) => ({
    name,
    description,
    sections: sections.filter(({ operation }) => operation.tags[0] === name),
  }));
  const contents = groups.map(
    (group) =>
      html`<div class="group"><h2>${group.name}</h2><ul>${group.sections.map(
        ({ path, methods, operation }) =>
          html`<li><a href="#${operation.operationId}">${methods.join(' · ')} <code>${path.replace('/api/cores/{collection}', '…')}</code></a></li>`,
      )}</ul></div>`,
  );
  return page(
    'akin: the HTTP interface',
    html`<div class="reference"><nav aria-label="Endpoints"><label hidden>Find <input id="find" type="search" placeholder="a word, / to begin"></label>${contents}</nav>
<div class="sections"><p>Machine-readable: <a href="/openapi.json">/openapi.json</a>, for old clients <a href="/openapi-legacy.json">/openapi-legacy.json</a>. Every path below <code>/api/cores</code> works below <code>/${legacySegment}</code> too. Send parameters in the address or in a form body.</p>${groups.map(
      (group) => html`${group.sections.map((section) => renderSection(section, group.name, parameterOf))}`,
    )}</div></div>`,
    DOCS_SCRIPT,
  );
}

function sectionsOf(path: string, item: Record<string, Operation>): Section[] {
  return groupAlike(Object.keys(item), (method) => JSON.stringify(item[method]?.summary)).map((alike) => ({
    path,
    methods: alike.map((method) => method.toUpperCase()),
    operation: {
      ...(item[alike.at(-1) as string] as Operation),
      operationId: (item[alike[0] as string] as Operation).operationId,
    },
  }));
}

function renderSection(
  { path, methods, operation }: Section,
  group: string,
  parameterOf: (reference: { $ref: string }) => Parameter,
): Html {
  const types = Object.keys(operation.requestBody?.content ?? {});
  const bodies = types.map((type) => html` <code>${type}</code>`);
  const scope = Object.values(operation.security[0] ?? {})[0]?.[0];
  const parameters = operation.parameters.map(parameterOf);
  const required = parameters.filter(({ name, required }) => required && !path.includes(`{${name}}`));
  const call = { name: operation.operationId, methods, path, required: required.map(({ name }) => name) };
  return html`<section id="${operation.operationId}"><h2><code>${methods.join(' · ')} ${path}</code></h2>
<p>${prose(operation.summary)} ${prose(operation.description ?? '')}</p>
<p class="about">${group}${scope ? html`, keys of the scope <code>${scope}</code>` : ', without a key'}${bodies.length > 0 ? html`. Body:${bodies}` : ''}</p>
${renderExamples(call)}
<details class="try" hidden data-path="${path}" data-methods="${methods.join(' ')}" data-types="${types.join(' ')}"><summary>Try it</summary></details>
${parameters.length > 0 ? html`<details class="all"${parameters.length < 12 ? html` open` : ''}><summary>${parameters.length} parameters</summary><table class="parameters">${parameters.map(renderParameter)}</table></details>` : ''}
</section>
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

/** A limit above this number is of no interest to readers. */
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
