import { noChange } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { TEXTS } from './texts.ts';

const T = TEXTS.key;

/**
 * Where the key is kept: in this tab, until it is closed, or in this browser if somebody wants that. No cookie, so that
 * no other page can use it.
 */
const STORED = 'akin-key';

/** The key of this page; undefined where none was asked for. */
export function keyOfTab(): string | undefined {
  return sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED) ?? undefined;
}

/** Sends no key from the next load on. */
export function forgetKey(): void {
  sessionStorage.removeItem(STORED);
  localStorage.removeItem(STORED);
}

/** Asks for a key over the page, once; with one, the page starts again. @param reason what akin said */
export function askForKey(reason: string): void {
  if (document.querySelector('dialog.key')) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'key';
  const form = document.createElement('form');
  form.method = 'dialog';
  const heading = document.createElement('h2');
  heading.textContent = T.title;
  const about = document.createElement('p');
  about.textContent = keyOfTab() === undefined ? T.asks : reason;
  const input = document.createElement('input');
  Object.assign(input, { type: 'password', required: true, autocomplete: 'off', name: 'key', ariaLabel: T.title });
  const button = document.createElement('button');
  button.className = 'button primary';
  button.textContent = T.open;
  const keep = document.createElement('input');
  keep.type = 'checkbox';
  const kept = document.createElement('label');
  kept.className = 'keep-key';
  kept.append(keep, T.keep);
  form.append(heading, about, input, kept, button);
  form.addEventListener('submit', () => {
    forgetKey();
    (keep.checked ? localStorage : sessionStorage).setItem(STORED, input.value.trim());
    location.reload();
  });
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
}

/** Pictures come without headers: with a key they are fetched, and shown from memory. */
class KeyedSource extends AsyncDirective {
  #address = '';
  #shown = '';

  render(address: string): unknown {
    const key = keyOfTab();
    if (key === undefined) return address;
    if (address !== this.#address) {
      this.#address = address;
      void this.#fetch(address, key);
    }
    return noChange;
  }

  protected override disconnected(): void {
    URL.revokeObjectURL(this.#shown);
    this.#address = '';
  }

  async #fetch(address: string, key: string): Promise<void> {
    const answer = await fetch(address, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
    const picture = answer?.ok ? await answer.blob().catch(() => undefined) : undefined;
    if (address !== this.#address || !this.isConnected) return;
    URL.revokeObjectURL(this.#shown);
    this.#shown = picture ? URL.createObjectURL(picture) : '';
    // An address without a picture: the image fires an error, and the listener shows another one.
    this.setValue(this.#shown || 'data:,');
  }
}

/** For `src` of an image: the address, or what was fetched from there with the key. */
export const keyedSource = directive(KeyedSource);
