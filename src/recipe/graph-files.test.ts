import { describe, expect, it } from 'vitest';
import { repository } from '../../test/recipe/repository-double.ts';
import { chooseGraphs, findReferenceGraph, type GraphWish, listModelFolders } from './graph-files.ts';
import { RecipeFiles } from './recipe-files.ts';

function choose(paths: readonly string[], wish: GraphWish = {}, subfolder = '') {
  const files = new RecipeFiles(repository(Object.fromEntries(paths.map((path) => [path, 1]))), subfolder);
  return chooseGraphs(files, wish).map(({ precision, path, data }) => [precision, path, ...data].join(' '));
}

describe('the graphs of a repository', () => {
  it('are those of full precision and of 8 bits, by their usual names', () => {
    const all = ['', '_fp16', '_int8', '_uint8', '_quantized', '_q4', '_q4f16', '_bnb4'].map(
      (name) => `onnx/model${name}.onnx`,
    );
    expect(choose(all)).toEqual(['fp32 onnx/model.onnx', 'int8 onnx/model_int8.onnx']);
    expect(choose(all, { precisions: ['fp16'] })).toEqual(['fp16 onnx/model_fp16.onnx']);
    expect(choose(['onnx/model_quantized.onnx'])).toEqual(['int8 onnx/model_quantized.onnx']);
  });

  it('are never those of one processor, and never those of four bits', () => {
    const machine = [
      'model_qint8_avx512.onnx',
      'model_qint8_avx512_vnni.onnx',
      'model_qint8_arm64.onnx',
      'model_O4.onnx',
    ];
    expect(choose(['model.onnx', ...machine].map((name) => `onnx/${name}`))).toEqual(['fp32 onnx/model.onnx']);
    expect(() => choose(machine.map((name) => `onnx/${name}`))).toThrow('no graph under a usual name');
    expect(() => choose(['onnx/model_q4.onnx'], { file: 'onnx/model_q4.onnx', precisions: ['int8'] })).toThrow(
      'four bits',
    );
    expect(() => choose(['onnx/model_bnb4.onnx'], { file: 'onnx/model_bnb4.onnx' })).toThrow('four bits');
  });

  it('bring the files along that their weights lie in, and nobody else’s', () => {
    const files = [
      'model.onnx',
      'model.onnx_data',
      'model.onnx_data_1',
      'model_quantized.onnx',
      'model_quantized.onnx_data',
    ];
    expect(choose(files)).toEqual([
      'fp32 model.onnx model.onnx_data model.onnx_data_1',
      'int8 model_quantized.onnx model_quantized.onnx_data',
    ]);
  });

  it('are one export: those in onnx/ before those in the root', () => {
    expect(choose(['model.onnx', 'model_int8.onnx', 'onnx/model.onnx'])).toEqual(['fp32 onnx/model.onnx']);
  });

  it('may be named, with a precision where the name tells none', () => {
    const files = ['model_optimized.onnx', 'onnx/model_qint8_avx512_vnni.onnx'];
    const [optimized = '', machine = ''] = files;
    expect(() => choose(files)).toThrow(`Its graphs: ${files.join(', ')}`);
    expect(() => choose(files, { file: optimized })).toThrow('does not tell its precision');
    expect(choose(files, { file: optimized, precisions: ['int8'] })).toEqual([`int8 ${optimized}`]);
    expect(choose(files, { file: machine, precisions: ['int8'] })).toEqual([`int8 ${machine}`]);
    expect(() => choose(files, { file: 'onnx/other.onnx' })).toThrow('no file onnx/other.onnx');
  });

  it('are told where a precision is missing', () => {
    expect(() => choose(['onnx/model.onnx'], { precisions: ['int8'] })).toThrow('no int8 graph; it has fp32');
    expect(() => choose(['onnx/model_fp16.onnx'])).toThrow('it has fp16');
  });

  it('are in a subfolder of the repository, where that is named', () => {
    const files = ['english/onnx/model.onnx', 'multilingual/onnx/model.onnx'];
    const all = new RecipeFiles(repository(Object.fromEntries(files.map((path) => [path, 1]))), '');
    expect(listModelFolders(all)).toEqual(['english', 'multilingual']);
    expect(() => choose(files)).toThrow('no graph under a usual name');
    expect(choose(files, {}, 'english/')).toEqual(['fp32 english/onnx/model.onnx']);
  });

  it('are not there: an export is looked for elsewhere', () => {
    expect(() => choose(['model.safetensors'])).toThrow('no .onnx file at all');
  });

  it('are refused under a name that a model folder cannot hold', () => {
    expect(() => choose(['onnx/my model.onnx'], { file: 'onnx/my model.onnx', precisions: ['fp32'] })).toThrow(
      'of this name',
    );
  });
});

describe('the graph that quantized ones are compared with', () => {
  const files = new RecipeFiles(repository({ 'a/onnx/model.onnx': 1, 'a/onnx/model_int8.onnx': 1 }), 'a');

  it('is found also where only another one is wanted', () => {
    const chosen = chooseGraphs(files, { precisions: ['int8'] });
    expect(findReferenceGraph(files, chosen)?.path).toBe('a/onnx/model.onnx');
  });
});
