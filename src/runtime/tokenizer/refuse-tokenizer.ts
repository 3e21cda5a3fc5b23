// Whether this server can read a tokenizer.json, before anything is loaded: for who pulls a model.

import { StartError } from '../start-error.ts';
import { isBertFile, parseBertFile } from './bert-file.ts';
import { type PipelineFile, readPipeline } from './pipeline.ts';

/** @param file parsed tokenizer.json @returns what is not supported, in a sentence; undefined when all of it is */
export function refuseTokenizer(file: unknown): string | undefined {
  try {
    if (isBertFile(file)) parseBertFile(file);
    else readPipeline((file ?? {}) as PipelineFile);
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
}
