import { createHash } from 'node:crypto';

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fafafa; }
h1 { font-size: 1.2rem; } h2 { font-size: 1rem; margin: 2rem 0 .3rem; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.documents { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }
.document { background: #fff; border: 1px solid #ddd; border-radius: 6px; padding: .8rem; overflow: hidden; }
.document img { display: block; width: 100%; height: 12rem; object-fit: contain; background: #f3f3f3; }
.score { font-weight: 600; } .error { color: #a00; font-weight: 600; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .1rem .6rem .1rem 0; overflow-wrap: anywhere; }
th { font-weight: 500; color: #666; white-space: nowrap; }
.address { background: #fff; border: 1px solid #ddd; padding: .2rem .5rem; }
ul.contents { columns: 22rem; padding: 0; list-style: none; } ul.contents li { break-inside: avoid; } ul.contents a { color: inherit; }
@media (max-width: 40rem) { body { margin: 1rem; } table.parameters :is(th, td) { display: block; } table.parameters tr { display: block; padding: .4rem 0; } }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } .document, .address { background: #222; border-color: #444; } .document img { background: #2a2a2a; } }
`;

/** No script runs in these pages, whatever a stored value says; pictures may come from anywhere. */
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

/** Text for any place in a page, attributes in double quotes included. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A whole page. `content` is HTML already. */
export function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${content}
</body></html>
`;
}
