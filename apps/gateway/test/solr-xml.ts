import { SaxesParser } from 'saxes';

interface Element {
  readonly type: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/**
 * Parses a response in Solr's XML as its clients do, into the same structure as the JSON response. Fails on anything
 * that is not well-formed, and on elements that those clients do not know.
 */
// biome-ignore lint/suspicious/noExplicitAny: tests look into responses of all shapes
export function readSolrXml(xml: string): any {
  const parser = new SaxesParser();
  const root: Element = { type: 'document', attributes: {}, children: [], text: '' };
  const open = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = { type: name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    (open.at(-1) as Element).text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  const [response] = root.children;
  if (response?.type !== 'response') throw new Error('the root is no <response>');
  return members(response);
}

function members(element: Element): Record<string, unknown> {
  return Object.fromEntries(element.children.map((child) => [child.attributes.name ?? '', readValue(child)]));
}

function readValue(element: Element): unknown {
  const { type, text, children, attributes } = element;
  switch (type) {
    case 'str':
    case 'date':
      return text;
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return Number(text);
    case 'bool':
      return text === 'true';
    case 'null':
      return null;
    case 'arr':
      return children.map(readValue);
    case 'lst':
    case 'doc':
      return members(element);
    case 'result': {
      const { numFound, start, maxScore, numFoundExact } = attributes;
      return {
        numFound: Number(numFound),
        start: Number(start),
        ...(maxScore === undefined ? {} : { maxScore: Number(maxScore) }),
        numFoundExact: numFoundExact === 'true',
        docs: children.map(readValue),
      };
    }
    default:
      throw new Error(`no client knows <${type}>`);
  }
}
