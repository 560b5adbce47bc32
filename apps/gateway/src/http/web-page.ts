import { readdirSync } from 'node:fs';
import path from 'node:path';
import express, { type Handler } from 'express';

/** Only the page's own scripts may run, and only its own pictures may be shown: it loads nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Files that the build has compressed, by what is added to their names; the smaller ones first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** The name of a script or style contains its hash: it never changes. */
const HASHED = /[\\/]assets[\\/][^\\/]+$/;

/** The built web page at `/`. Without a folder, `/` redirects to the description of the interface. */
export function webPage(folder: string | undefined): Handler {
  if (folder === undefined) {
    return (request, response, next) => {
      if (request.path === '/' && request.method === 'GET') response.redirect(302, '/docs');
      else next();
    };
  }
  const files = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `/${name}`));
  const send = express.static(folder, {
    dotfiles: 'ignore',
    setHeaders(response, file) {
      response.setHeader('content-security-policy', PAGE_POLICY);
      response.setHeader('cache-control', HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  return (request, response, next) => {
    const name = request.path === '/' ? '/index.html' : request.path;
    const variants = ENCODINGS.filter(([, ending]) => files.has(`${name}${ending}`));
    const [encoding, ending] = variants.find(([one]) => request.acceptsEncodings(one)) ?? [];
    if (variants.length > 0) response.vary('accept-encoding');
    if (encoding !== undefined) {
      response.type(path.extname(name));
      response.setHeader('content-encoding', encoding);
      request.url = `${name}${ending}`;
    }
    send(request, response, next);
  };
}
