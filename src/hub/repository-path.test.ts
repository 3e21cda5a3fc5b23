import { describe, expect, it } from 'vitest';
import { findNameFault, findPathFault, showPath } from './repository-path.ts';

describe('a path of a repository', () => {
  it.each([
    'model.onnx',
    'onnx/model.onnx_data',
    'a/b/c/d.json',
    '.gitattributes',
    'ünïcode/…',
    'con/fig.json',
    'a..b/c',
    '...',
  ])('is harmless: %s', (path) => expect(findPathFault(path)).toBeUndefined());

  it.each([
    ['', 'it is empty'],
    ['..', 'it leads elsewhere'],
    ['../model.onnx', 'it leads elsewhere'],
    ['onnx/../../model.onnx', 'it leads elsewhere'],
    ['onnx/..', 'it leads elsewhere'],
    ['./model.onnx', 'it leads elsewhere'],
    ['/etc/passwd', 'it is absolute'],
    ['//server/share', 'it is absolute'],
    ['C:/Windows/x', 'it is absolute'],
    ['c:model.onnx', 'it is absolute'],
    ['onnx\\..\\model.onnx', 'it has a backslash'],
    ['\\\\server\\share', 'it has a backslash'],
    ['model.onnx\0.json', 'it has a control character'],
    ['model\u001b[2J.onnx', 'it has a control character'],
    ['onnx//model.onnx', 'a part of it is empty'],
    ['onnx/', 'a part of it is empty'],
  ])('means harm: %j', (path, fault) => expect(findPathFault(path)).toBe(fault));

  it.each([
    ['aux.json', 'its name is one of a device on Windows'],
    ['onnx/NUL', 'its name is one of a device on Windows'],
    ['COM1.onnx', 'its name is one of a device on Windows'],
    ['runs/12:00/events', 'its name has a character that Windows keeps for itself'],
    ['model.onnx:stream', 'its name has a character that Windows keeps for itself'],
    ['what?.json', 'its name has a character that Windows keeps for itself'],
    ['model.', 'its name ends in a dot or a space'],
    ['onnx /model.onnx', 'its name ends in a dot or a space'],
    [`${'ü'.repeat(130)}.json`, 'its name is too long'],
    ['\ud800.json', 'its name is no text'],
  ])('cannot lie on every machine: %j', (path, fault) => expect(findNameFault(path)).toBe(fault));

  it.each(['model.onnx', 'auxiliary.json', 'console.json', 'nullify/x', 'onnx/model.onnx_data'])(
    'may lie anywhere: %s',
    (path) => expect(findNameFault(path)).toBeUndefined(),
  );

  it('is shown without harm to a terminal', () => {
    expect(showPath('\u001b[2J')).toBe('"\\u001b[2J"');
    expect(showPath('x'.repeat(10_000)).length).toBeLessThan(300);
  });
});
