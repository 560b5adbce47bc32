import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#fafafa, #181818); --paper: light-dark(#fff, #222); --ink: light-dark(#222, #ddd); --faint: light-dark(#5c5c5c, #a6a6a6); --line: light-dark(#ddd, #444); --link: light-dark(#0b57d0, #8ab4f8); --error: light-dark(#a00, #ff8a80); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: var(--ink); background: var(--ground); }
h1 { font-size: 1.2rem; } h2 { font-size: 1rem; margin: 2rem 0 .3rem; } a { color: var(--link); }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.documents { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }
.document { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .8rem; overflow: hidden; }
.document img { display: block; width: 100%; height: 12rem; object-fit: contain; background: light-dark(#f3f3f3, #2a2a2a); }
.score { font-weight: 600; } .error { color: var(--error); font-weight: 600; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .1rem .6rem .1rem 0; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--faint); white-space: nowrap; }
.address { background: var(--paper); border: 1px solid var(--line); padding: .2rem .5rem; }
.reference { display: grid; grid-template-columns: 20rem minmax(0, 1fr); gap: 2rem; }
.reference nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding-right: .5rem; }
.reference nav ul { list-style: none; padding: 0; margin: 0; } .reference nav li { padding: .1rem 0; font-size: 13px; overflow-wrap: anywhere; }
.reference nav input { font: inherit; inline-size: 100%; box-sizing: border-box; }
.reference section { border-top: 1px solid var(--line); padding-bottom: 1.5rem; max-inline-size: 60rem; }
.reference pre { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; overflow: auto; max-height: 30rem; margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.about { color: var(--faint); } summary { cursor: pointer; width: fit-content; }
form label { display: block; margin: .4rem 0; } form textarea { display: block; inline-size: 100%; box-sizing: border-box; font: 13px/1.4 ui-monospace, monospace; }
output img { max-inline-size: 100%; }
@media (max-width: 60rem) { .reference { display: block; } .reference nav { position: static; max-height: 20rem; } }
@media (max-width: 40rem) { body { margin: 1rem; } table.parameters :is(th, td) { display: block; } table.parameters tr { display: block; padding: .4rem 0; } }
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * The headers of a page. Without further directives no script runs in it, whatever a stored value contains, and
 * pictures may come from any host.
 *
 * @param more directives that replace these; scripts as their texts
 */
export function pageHeaders(more: Readonly<Record<string, string | readonly string[]>> = {}): Record<string, string> {
  const directives: Readonly<Record<string, string | readonly string[]>> = {
    'default-src': "'none'",
    'img-src': "'self' http: https:",
    'style-src': [STYLE],
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...more,
  };
  const written = Object.entries(directives).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : value.map(hashOf).join(' ')}`,
  );
  return { 'content-security-policy': written.join('; ') };
}

/** The headers of a page without a script. */
export const HTML_HEADERS: Readonly<Record<string, string>> = pageHeaders();

/** @param script must be in the headers of the page */
export function page(title: string, content: Html, script?: string): string {
  const end = script === undefined ? '' : html`<script>${new Html(script)}</script>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg"><title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${content}
</main>${end}</body></html>
`.text;
}
