import { expect, it } from 'vitest';
import { listSmallFiles } from './recipe-files.ts';

it('the files that a recipe may want are configurations and tokenizers, never weights or code', () => {
  const wanted = [
    'config.json',
    'modules.json',
    '1_Pooling/config.json',
    'config_sentence_transformers.json',
    'sentence_bert_config.json',
    'sentence_xlm-roberta_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'tokenizer/tokenizer.json',
    'rl_agent_config.json',
  ];
  const others = [
    'model.safetensors',
    'pytorch_model.bin',
    'modeling.py',
    'onnx/model.onnx',
    'README.md',
    'vocab.txt',
    'openvino/tokenizer.json',
  ];
  const all = [...wanted, ...others, 'english/config.json'].map((path) => ({ path, bytes: 10 }));
  expect(listSmallFiles(all, '')).toEqual([...wanted, 'english/config.json']);
  expect(listSmallFiles(all, 'english')).toEqual(['english/config.json']);
  const large = ['config.json', '1_Pooling/config.json', 'tokenizer.json'].map((path) => ({ path, bytes: 3e7 }));
  expect(listSmallFiles(large, '')).toEqual(['tokenizer.json']);
  expect(listSmallFiles([{ path: 'tokenizer.json', bytes: 1e12 }], '')).toEqual([]);
});
