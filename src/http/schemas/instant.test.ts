import { describe, expect, it } from 'vitest';
import { toInstant } from '../../domain/instant.ts';
import { instantField } from './instant.ts';

const field = instantField('expires_at');
const parameter = instantField('from', 'parameter');

describe('a moment', () => {
  it.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T12:00Z', '2027-01-31T12:00:00.000Z'],
    ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.000Z'],
    ['2027-01-31t12:00:00z', '2027-01-31T12:00:00.000Z'],
    ['2027-01-31T12:00:00.123456789Z', '2027-01-31T12:00:00.123Z'],
    ['2027-01-31T12:00:00.5+05:30', '2027-01-31T06:30:00.500Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2016-12-31T15:59:60.25-08:00', '2017-01-01T00:00:00.250Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['1901-02-28', '1901-02-28T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(toInstant(field.parse(text))).toBe(instant);
  });

  it.each([
    '',
    'now',
    '2027',
    '2027-02-29',
    '2027-13-01',
    '2027-01-31T12:00:00',
    '2027-01-31T24:01:00Z',
    '2027-01-31T12:00:61Z',
    '2027-01-31 12:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '+012027-01-31',
    '2027-01-31T12:00:00Z ',
  ])('is not %j', (text) => {
    expect(field.safeParse(text).success).toBe(false);
  });

  it('of a query is at least the oldest that any clock has', () => {
    expect(parameter.parse('0001-01-01')).toBe(0);
    expect(parameter.parse('2027-01-31')).toBe(Date.UTC(2027, 0, 31));
  });
});
