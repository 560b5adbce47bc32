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

/** The built web page at `/`. Without a folder, `/` redirects to the description of the interface. */
export function webPage(folder: string | undefined): Handler {
  if (folder === undefined) {
    return (request, response, next) => {
      if (request.path === '/' && request.method === 'GET') response.redirect(302, '/docs');
      else next();
    };
  }
  return express.static(folder, {
    dotfiles: 'ignore',
    setHeaders(response) {
      response.setHeader('content-security-policy', PAGE_POLICY);
    },
  });
}
