import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdModelLock, ModelBusyError } from '../../../src/runtime/model-folder/model-lock.ts';
import { StartError } from '../../../src/runtime/start-error.ts';
import { ScratchFolders } from '../../hub/model-tree.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

describe('the lock of a model folder', () => {
  it('is held by one, and by the next when that one has let go', async () => {
    const file = join(scratch.make(), '.locks', 'reranker.lock');
    const first = await holdModelLock(file, 'reranker');
    const second = holdModelLock(file, 'reranker');
    await expect(second).rejects.toThrow(ModelBusyError);
    await expect(second).rejects.toThrow(
      'Somebody else is at work on the model reranker. When that has ended, this can be tried again.',
    );
    first.release();
    (await holdModelLock(file, 'reranker')).release();
    expect(existsSync(file)).toBe(true);
  });

  it('holds up no other model', async () => {
    const folder = scratch.make();
    const locks = await Promise.all(['a', 'b'].map((id) => holdModelLock(join(folder, id), id)));
    for (const lock of locks) lock.release();
  });

  it('says where nothing can be written', async () => {
    const folder = scratch.make({ 'a-file': '' });
    const place = join(folder, 'a-file', '.locks');
    const refused = holdModelLock(join(place, 'x.lock'), 'x');
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow(`Nothing can be written to ${place} (ENOTDIR`);
  });

  it('is no lock where its file is something else', async () => {
    const folder = scratch.make({ taken: 'This is no database, and long enough to be seen as none.' });
    await expect(holdModelLock(join(folder, 'taken'), 'x')).rejects.toThrow('file is not a database');
  });
});
