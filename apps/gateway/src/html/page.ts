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
ul.contents { columns: 22rem; padding: 0; list-style: none; } ul.contents li { break-inside: avoid; }
@media (max-width: 40rem) { body { margin: 1rem; } table.parameters :is(th, td) { display: block; } table.parameters tr { display: block; padding: .4rem 0; } }
`;

/** No script runs in these pages, whatever a stored value contains. Pictures may come from any host. */
export const HTML_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "img-src 'self' http: https:",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

/** A whole page. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg"><title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>
`.text;
}
