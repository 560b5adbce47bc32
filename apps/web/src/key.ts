import { noChange } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { TEXTS } from './texts.ts';

const T = TEXTS.key;

/**
 * Name under which the key is stored: in this tab until it is closed, or in this browser if the user chooses so. Not in
 * a cookie, so that no other page can use it.
 */
const STORAGE_KEY = 'akin-key';

export function keyOfTab(): string | undefined {
  return sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY) ?? undefined;
}

/** It is no longer sent after the next load. */
export function forgetKey(): void {
  sessionStorage.removeItem(STORAGE_KEY);
  localStorage.removeItem(STORAGE_KEY);
}

/** Asks for a key in a dialog, only once; then the page reloads. */
export function askForKey(): void {
  if (document.querySelector('dialog.key')) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'key';
  const form = document.createElement('form');
  form.method = 'dialog';
  const heading = document.createElement('h2');
  heading.textContent = T.title;
  const about = document.createElement('p');
  about.textContent = keyOfTab() === undefined ? T.asks : T.refused;
  const input = document.createElement('input');
  Object.assign(input, { type: 'password', required: true, autocomplete: 'off', name: 'key', ariaLabel: T.title });
  // No header can hold other characters: then every request would fail, and akin would never ask again.
  Object.assign(input, { pattern: '[\\x20-\\x7E]+', title: T.rule });
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
    (keep.checked ? localStorage : sessionStorage).setItem(STORAGE_KEY, input.value.trim());
    location.reload();
  });
  // Esc closes it, too: the next request without a valid key asks again.
  dialog.addEventListener('close', () => dialog.remove());
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
}

/** Image requests of browsers have no header for a key. So images are fetched with the key, and shown from memory. */
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
    const picture = await fetchPicture(address, key);
    if (address !== this.#address || !this.isConnected) return;
    URL.revokeObjectURL(this.#shown);
    this.#shown = picture ? URL.createObjectURL(picture) : '';
    // A URL without a picture: the image fires an error, and the original is requested in another format.
    this.setValue(this.#shown || NO_PICTURE);
  }
}

const NO_PICTURE = 'data:,';

async function fetchPicture(address: string, key: string): Promise<Blob | undefined> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
  return response?.ok ? response.blob().catch(() => undefined) : undefined;
}

export async function setImageSource(image: HTMLImageElement, address: string): Promise<void> {
  const key = keyOfTab();
  if (key === undefined) {
    image.src = address;
    return;
  }
  const picture = await fetchPicture(address, key);
  if (picture === undefined) return;
  const shown = URL.createObjectURL(picture);
  for (const end of ['load', 'error']) image.addEventListener(end, () => URL.revokeObjectURL(shown), { once: true });
  image.src = shown;
}

/** @returns false if it could not be downloaded with the key */
export async function saveOriginal(address: string, name: string): Promise<boolean> {
  const key = keyOfTab();
  const file = key === undefined ? undefined : await fetchPicture(address, key);
  if (key !== undefined && file === undefined) return false;
  const link = document.createElement('a');
  link.href = file ? URL.createObjectURL(file) : address;
  link.download = name;
  link.click();
  if (file) setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return true;
}

/** For `src` of an image: its URL, or an object URL of the picture that was fetched with the key. */
export const keyedSource = directive(KeyedSource);
