import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { BodyRoom, PlaceReleasedError } from './body-room.ts';

const MIB = 1024 * 1024;

function roomOf(totalBytes = 8 * MIB, keyBytes = 4 * MIB) {
  return new BodyRoom({ totalBytes, keyBytes, nowMs: () => Date.now() });
}

/** Whether it is done once all that can happen at once has happened. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const settle = (): void => {
    done = true;
  };
  promise.then(settle, settle);
  for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  return done;
}

describe('the room for bodies', () => {
  it('has room for each key up to its part, and is given back', async () => {
    const room = roomOf();
    const first = room.place('a');
    await first.grow(3 * MIB);
    const second = room.place('a');
    const waiting = second.grow(2 * MIB);
    expect(await isDone(waiting)).toBe(false);
    const other = room.place('b');
    await other.grow(3 * MIB);
    first.release();
    await waiting;
    expect([room.heldBytes, room.waiting]).toEqual([5 * MIB, 0]);
    for (const place of [second, other, first, second]) place.release();
    expect(room.heldBytes).toBe(0);
  });

  it('lets one body in that is larger than the part, and nothing beside it', async () => {
    const room = roomOf();
    const large = room.place('a');
    await large.grow(6 * MIB);
    await large.grow(6 * MIB);
    const next = room.place('a').grow(1);
    expect(await isDone(next)).toBe(false);
    large.release();
    await next;
  });

  it('keeps a part for small bodies, which never wait for large ones of other keys', async () => {
    const room = roomOf(8 * MIB, 8 * MIB);
    await room.place('a').grow(7 * MIB);
    expect(await isDone(room.place('b').grow(MIB))).toBe(false);
    await room.place('c').grow(64 * 1024);
  });

  it('lets in those that hold something before those that hold nothing, and the others in order', async () => {
    const room = roomOf(4 * MIB, 4 * MIB);
    const [first, growing] = [room.place('a'), room.place('b')];
    await first.grow(2.4 * MIB);
    await growing.grow(MIB);
    const order: string[] = [];
    const enter = (name: string, grown: Promise<void>) => grown.then(() => order.push(name));
    const all = [
      enter('c', room.place('c').grow(MIB)),
      enter('d', room.place('d').grow(0.5 * MIB)),
      enter('growing', growing.grow(MIB)),
    ];
    first.release();
    await Promise.all(all);
    expect(order).toEqual(['growing', 'c', 'd']);
  });

  it('counts nobody who waits for longer than he can: they are gone when a newcomer comes', async () => {
    vi.useFakeTimers();
    try {
      const room = roomOf();
      // A key that gives back 1 MiB a second, and then holds half of its room.
      for (let round = 0; round < 5; round++) {
        const place = room.place('a');
        await place.grow(MIB);
        vi.advanceTimersByTime(1000);
        place.release();
      }
      await room.place('a').grow(2 * MIB);
      const refused = Array.from({ length: 60 }, () =>
        room
          .place('a')
          .grow(3 * MIB)
          .then(
            () => undefined,
            (thrown: unknown) => (thrown as AppError).retryAfterMs,
          ),
      );
      vi.advanceTimersByTime(4000);
      for (const retryAfterMs of await Promise.all(refused)) {
        expect(retryAfterMs).toBeGreaterThanOrEqual(1000);
        expect(retryAfterMs).toBeLessThanOrEqual(5000);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('refuses after a while, and says when there will be room', async () => {
    vi.useFakeTimers();
    try {
      const room = roomOf();
      // A key that gives back 1 MiB every 100 ms.
      for (let round = 0; round < 20; round++) {
        const place = room.place('a');
        await place.grow(MIB);
        vi.advanceTimersByTime(100);
        place.release();
      }
      await room.place('a').grow(4 * MIB);
      const refused = room.place('a').grow(4 * MIB);
      refused.catch(() => undefined);
      vi.advanceTimersByTime(3999);
      expect(await isDone(refused)).toBe(false);
      vi.advanceTimersByTime(1);
      await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
      const error = await refused.catch((thrown: unknown) => thrown as AppError);
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).retryAfterMs).toBeGreaterThanOrEqual(1000);
      expect((error as AppError).retryAfterMs).toBeLessThanOrEqual(60_000);
      expect(room.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('refuses at once where too many of a key wait already', async () => {
    const room = roomOf();
    await room.place('a').grow(4 * MIB);
    const waiting = Array.from({ length: 128 }, () => room.place('a'));
    const all = waiting.map((place) => place.grow(MIB));
    for (const one of all) one.catch(() => undefined);
    await expect(room.place('a').grow(MIB)).rejects.toMatchObject({ code: 'overloaded' });
    for (const place of waiting) place.release();
    await Promise.allSettled(all);
    expect(room.waiting).toBe(0);
  });

  it('forgets a request that ends while it waits', async () => {
    const room = roomOf();
    const first = room.place('a');
    await first.grow(4 * MIB);
    const left = room.place('a');
    const grown = left.grow(MIB);
    left.release();
    await expect(grown).rejects.toBeInstanceOf(PlaceReleasedError);
    await expect(left.grow(1)).rejects.toBeInstanceOf(PlaceReleasedError);
    first.release();
    expect([room.heldBytes, room.waiting]).toEqual([0, 0]);
  });
});
