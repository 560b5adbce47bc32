import { TEXTS } from '../texts.ts';
import { HELP_TEXTS as T } from './texts.ts';

export function showHelp(): void {
  if (document.querySelector('dialog[open]')) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'help';
  dialog.setAttribute('aria-label', TEXTS.page.keyboard);
  const title = document.createElement('h2');
  title.textContent = TEXTS.page.keyboard;
  dialog.append(title, ...Object.entries(T.groups).flatMap(([name, keys]) => groupOf(name, keys)));
  const form = document.createElement('form');
  form.method = 'dialog';
  form.className = 'dialog-actions';
  const close = document.createElement('button');
  close.className = 'primary';
  close.textContent = TEXTS.details.close;
  form.append(close);
  dialog.append(form);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function groupOf(name: string, keys: Readonly<Record<string, string>>): HTMLElement[] {
  const heading = document.createElement('h3');
  heading.textContent = name;
  const list = document.createElement('dl');
  for (const [key, meaning] of Object.entries(keys)) {
    const term = document.createElement('dt');
    const pressed = document.createElement('kbd');
    pressed.textContent = key;
    term.append(pressed);
    const about = document.createElement('dd');
    about.textContent = meaning;
    list.append(term, about);
  }
  return [heading, list];
}
