// A thread that finds the vocabulary that its parent made, and sends the ids of a text.

import { parentPort, workerData } from 'node:worker_threads';
import { NativeTokenizer } from '../../src/runtime/tokenizer/native-tokenizer.ts';
import { requireAddon } from './open-native.ts';

const addon = await requireAddon();
const handle = addon.find(workerData as string);
if (handle === undefined) throw new Error('no thread has the vocabulary');
parentPort?.postMessage([...new NativeTokenizer(addon, handle, {}).encode('found in a thread')]);
