// Where the page keeps the key of whoever looks: in this tab alone, or in this browser if they ask for it. It is sent as a
// header to this server and goes nowhere else; there are no cookies.

import { type ReadonlySignal, signal } from '@preact/signals-core';

export interface KeyHolder {
  /** undefined: none was entered yet. */
  readonly key: ReadonlySignal<string | undefined>;
  /** @param isKept whether it outlives the tab */
  keep(key: string, isKept: boolean): void;
  forget(): void;
}

/** @param page each page has a key of its own: the operator's may do more */
export function openKeyHolder(page: 'playground' | 'admin'): KeyHolder {
  const name = `umpire.${page}.key`;
  const held = signal(readStored(name));
  return {
    key: held,
    keep: (key, isKept) => {
      drop(name);
      held.value = key;
      attempt(() => (isKept ? localStorage : sessionStorage).setItem(name, key));
    },
    forget: () => {
      drop(name);
      held.value = undefined;
    },
  };
}

function readStored(name: string): string | undefined {
  return attempt(() => sessionStorage.getItem(name) ?? localStorage.getItem(name)) ?? undefined;
}

function drop(name: string): void {
  attempt(() => sessionStorage.removeItem(name));
  attempt(() => localStorage.removeItem(name));
}

/** A browser may refuse any storage; the key then lives as long as the page. */
function attempt<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
