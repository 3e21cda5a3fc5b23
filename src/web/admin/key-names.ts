// What people call the keys: ids stand everywhere else.

import { signal } from '@preact/signals';
import { h, type JSX } from 'preact';
import { askWholeList } from './admin-api.ts';
import type { WireKey } from './wire-types.ts';

const names = signal<ReadonlyMap<string, string>>(new Map());

/** All keys, oldest first; from then on they are known by name. @throws as `askAdmin` */
export async function loadKeys(abort?: AbortSignal): Promise<readonly WireKey[]> {
  const { items } = await askWholeList<WireKey>('/keys?', abort);
  names.value = new Map(items.map(({ id, name }) => [id, name]));
  return items;
}

export function nameOfKey(id: string): string {
  return names.value.get(id) ?? id;
}

/** A key by its name; pointed at, by its id. What is no key (`command line`, `server`) is shown as it is. */
export function KeyName({ id }: { readonly id: string }): JSX.Element {
  return h('span', { title: id, class: 'key-name' }, nameOfKey(id));
}
