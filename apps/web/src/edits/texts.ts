import { count } from '../format.ts';

export const EDITS_TEXTS = {
  label: (documents: number) => `Label ${count(documents, 'document')}`,
  name: 'Label',
  add: 'Add',
  remove: 'Remove',
  added: (label: string, documents: number) => `${count(documents, 'document')} got the label “${label}”.`,
  removed: (label: string, documents: number) => `${count(documents, 'document')} lost the label “${label}”.`,
  copy: (documents: number) => `Copy ${count(documents, 'document')} to a collection`,
  copyText: 'akin creates the collection if it does not exist. It does not analyze the pictures again.',
  copyAction: 'Copy',
  copied: (documents: number, name: string) => `${count(documents, 'document')} copied to ${name}.`,
} as const;
