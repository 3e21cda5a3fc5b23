import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { HubError } from '../../src/hub/hub-error.ts';
import { holdPullLock } from '../../src/hub/pull-lock.ts';
import { ScratchFolders } from './model-tree.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

describe('the lock of a pull', () => {
  it('is held by one, and by the next when that one has let go', async () => {
    const file = join(scratch.make(), '.locks', 'reranker.lock');
    const first = await holdPullLock(file, 'reranker');
    await expect(holdPullLock(file, 'reranker')).rejects.toThrow(
      'Another process is pulling reranker. When it has ended, this can be tried again.',
    );
    first.release();
    (await holdPullLock(file, 'reranker')).release();
    expect(existsSync(file)).toBe(true);
  });

  it('holds up no other model', async () => {
    const folder = scratch.make();
    const locks = await Promise.all(['a', 'b'].map((id) => holdPullLock(join(folder, id), id)));
    for (const lock of locks) lock.release();
  });

  it('says where nothing can be written', async () => {
    const folder = scratch.make({ 'a-file': '' });
    const place = join(folder, 'a-file', '.locks');
    const refused = holdPullLock(join(place, 'x.lock'), 'x');
    await expect(refused).rejects.toThrow(HubError);
    await expect(refused).rejects.toThrow(`Nothing can be written to ${place} (ENOTDIR`);
  });

  it('is no lock where its file is something else', async () => {
    const folder = scratch.make({ taken: 'This is no database, and long enough to be seen as none.' });
    await expect(holdPullLock(join(folder, 'taken'), 'x')).rejects.toThrow('file is not a database');
  });
});
