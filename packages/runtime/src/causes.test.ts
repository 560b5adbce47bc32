import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { causeFields } from './causes.ts';

const above = (cause: unknown) =>
  Object.assign(new Error('The database cannot be reached.', { cause }), { code: 'unavailable' });

describe('why something cannot be reached', () => {
  it.each([
    ['28P01', 'password authentication failed for user "akin"'],
    ['3D000', 'database "akin" does not exist'],
    ['53300', 'sorry, too many clients already'],
    ['57P03', 'the database system is starting up'],
  ])('is the message of the server, with its SQLSTATE %s', (code, message) => {
    const said = Object.assign(new Error(message), { code, severity: 'FATAL' });
    expect(causeFields(above(said))).toEqual({ code, cause: message });
    expect(causeFields(above(new Error('It does not answer.', { cause: said })))).toEqual({ code, cause: message });
  });

  it('is named for each address of a host name', async () => {
    const refused = await new Client({ host: 'localhost', port: 1 }).connect().catch((error: unknown) => error);
    const { code, cause } = causeFields(above(refused));
    expect([code, cause]).toEqual(['ECONNREFUSED', expect.stringContaining('connect ECONNREFUSED 127.0.0.1:1')]);
    const both = new AggregateError([
      Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' }),
      Object.assign(new Error('connect ETIMEDOUT 10.0.0.1:5432'), { code: 'ETIMEDOUT' }),
    ]);
    expect(causeFields(above(both))).toEqual({
      code: 'ECONNREFUSED',
      cause: 'connect ECONNREFUSED ::1:5432; connect ETIMEDOUT 10.0.0.1:5432',
    });
  });

  it('is named for an unknown host name', async () => {
    const unknown = await new Client({ host: 'postgres.invalid' }).connect().catch((error: unknown) => error);
    expect(causeFields(above(unknown))).toEqual({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
      cause: expect.stringContaining('postgres.invalid'),
    });
  });

  it('is nothing where an error says all of it, and ends where causes go round', () => {
    expect(causeFields(new Error('Another akin leads.'))).toEqual({});
    expect(causeFields(undefined)).toEqual({});
    const one = new Error('one');
    const other = new Error('other', { cause: one });
    one.cause = other;
    expect(causeFields(one)).toEqual({});
  });
});
