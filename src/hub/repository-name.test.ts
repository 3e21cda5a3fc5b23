import { describe, expect, it } from 'vitest';
import { parseRepository } from './repository-name.ts';

describe('the name of a repository', () => {
  it.each([
    ['acme/model', 'acme/model', 'main'],
    ['acme/model@v1.0', 'acme/model', 'v1.0'],
    ['acme/model@refs/pr/1', 'acme/model', 'refs/pr/1'],
    ['bert-base-uncased', 'bert-base-uncased', 'main'],
    ['a/b_c.d-e@0123456789abcdef0123456789abcdef01234567', 'a/b_c.d-e', '0123456789abcdef0123456789abcdef01234567'],
  ])('is read: %s', (text, repo, revision) => expect(parseRepository(text)).toEqual({ repo, revision }));

  it.each([
    '',
    'acme/',
    '/model',
    'a/b/c',
    '../model',
    'acme/..',
    'acme/a--b',
    'acme/.a',
    'acme/a.git',
    'acme/ä',
    'a b/c',
    'a?/b',
    `a/${'b'.repeat(97)}`,
  ])('is none: %j', (text) => expect(() => parseRepository(text)).toThrow('is not the name of a repository'));

  it.each([
    'a/b@',
    'a/b@..',
    'a/b@x/../../y',
    'a/b@/x',
    'a/b@x y',
    'a/b@x\n',
    'a/b@x\\y',
    'a/b@a..b',
    `a/b@${'x'.repeat(256)}`,
    'a/b@\ud800',
  ])('has no such revision: %j', (text) =>
    expect(() => parseRepository(text)).toThrow('is not the name of a revision'),
  );
});
