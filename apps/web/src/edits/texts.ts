import { count } from '../format.ts';

function labelsText(labels: readonly string[]): string {
  const names = labels.map((label) => `“${label}”`);
  return `the ${names.length === 1 ? 'label' : 'labels'} ${new Intl.ListFormat('en').format(names)}`;
}

export const EDITS_TEXTS = {
  label: (documents: number) => `Label ${count(documents, 'document')}`,
  name: 'Label',
  commas: 'Separate several labels by commas.',
  add: 'Add',
  remove: 'Remove',
  added: (labels: readonly string[], documents: number) => `${count(documents, 'document')} got ${labelsText(labels)}.`,
  removed: (labels: readonly string[], documents: number) =>
    `${count(documents, 'document')} lost ${labelsText(labels)}.`,
  copy: (documents: number) => `Copy ${count(documents, 'document')} to a collection`,
  copyText: 'akin creates the collection if it does not exist. It does not analyze the pictures again.',
  copyAction: 'Copy',
  copied: (documents: number, name: string) => `${count(documents, 'document')} copied to ${name}.`,
} as const;
