// A store whose methods run again when another transaction got into their way. Any store: a failed call keeps nothing.

import { ConflictError } from './postgres-error.ts';

const ATTEMPTS = 5;

/** @returns the same methods; after several conflicts in a row the last ConflictError is thrown */
export function retryConflicts<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) => run(() => member.apply(target, parameters));
    },
  });
}

async function run(call: () => unknown): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
    }
  }
}
