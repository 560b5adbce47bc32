import { AkinError } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { type Cause, causeOf, toAkinError } from './sqlstate.ts';

/** An error as pg makes it. */
const failing = (code: string | undefined, message = 'it failed') => Object.assign(new Error(message), { code });

describe('errors of the database', () => {
  it.each([
    ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
    ...['25006', '25P03', '25P04', '28000', '28P01', '3D000'],
    ...['40000', '40001', '40002', '40003', '40P01', '42501'],
    ...['53000', '53100', '53200', '53300', '53400', '55000', '55006', '55P02', '55P03'],
    ...['57000', '57014', '57P01', '57P02', '57P03', '57P04', '57P05', '58000', '58030', '58P01', '72000', 'F0000'],
    ...['EPIPE', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EMFILE'],
    ...['ENOBUFS', 'EAI_AGAIN', 'ENOTFOUND', 'EPROTO', 'ERR_SOCKET_CLOSED', 'ERR_STREAM_DESTROYED'],
    ...['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ])('treat %s as an unreachable or busy server, with a time to try again', (code) => {
    const error = toAkinError(failing(code));
    expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
    expect(causeOf(error)).toBe('server');
  });

  it.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
    'There was an error establishing an SSL connection',
    'Received unexpected commandComplete message from backend.',
    'SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature is missing',
  ])('treat "%s", which has no code, as an unreachable server', (message) => {
    expect(toAkinError(failing(undefined, message))).toMatchObject({ code: 'unavailable' });
  });

  it.each<[string, string, Cause]>([
    ['22003', 'bad-request', 'values'],
    ['22P02', 'bad-request', 'values'],
    ['54000', 'bad-request', 'values'],
    ['23505', 'conflict', 'values'],
    ['XX000', 'internal', 'values'],
    ['P0001', 'internal', 'values'],
    ['42601', 'internal', 'statement'],
    ['42P18', 'internal', 'statement'],
    ['42703', 'internal', 'statement'],
    ['0A000', 'internal', 'statement'],
    ['42P01', 'not-found', 'server'],
    ['3F000', 'not-found', 'server'],
    ['XX001', 'internal', 'server'],
    ['25P02', 'internal', 'server'],
  ])('classify %s', (state, code, blame) => {
    const error = toAkinError(failing(state));
    expect([error.code, causeOf(error), causeOf(failing(state))]).toEqual([code, blame, blame]);
  });

  it.each([
    ['could not extend file "base/16384/16999": Permission denied', /may not write its files/],
    ['permission denied for schema akin', /belong to another role/],
    ['must be owner of table documents', /belong to another role/],
  ])('say whose right is missing: %s', (message, said) => {
    expect(toAkinError(failing('42501', message)).message).toMatch(said);
  });

  it('recognize races with the end of a collection by their text', () => {
    const error = toAkinError(failing('XX000', 'could not open relation with OID 16999'));
    expect([error.code, causeOf(error)]).toEqual(['unavailable', 'server']);
  });

  it('blame nothing for an error that is not from SQL', () => {
    expect(causeOf(new Error('a slip'))).toBe('server');
    expect(causeOf(new AkinError('bad-request', 'The query is wrong.'))).toBe('server');
    expect(toAkinError(new Error('a slip')).code).toBe('internal');
  });
});
