// A page of a longer list. One item more than fits is asked for: its presence says that there are more.

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** @param found up to `limit` + 1 items */
export function pageOf<Item>(found: readonly Item[], limit: number): Page<Item> {
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}
