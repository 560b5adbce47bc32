import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens a URL in the user's browser, if there is one. Silent otherwise. */
export function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? (['xdg-open'] as const);
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
