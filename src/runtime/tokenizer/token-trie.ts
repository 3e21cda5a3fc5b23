// Tokens by their UTF-16 units, for all that begin at a place of a text.

import { PairTable } from './pair-table.ts';

export class TokenTrie {
  readonly #children: PairTable;
  /** `[nodes]`: −1 where no token ends. */
  #ids = new Int32Array(64).fill(-1);
  #nodes = 1;

  /** @param expected tokens */
  constructor(expected: number) {
    this.#children = new PairTable(3 * expected);
  }

  /** @returns the node after one more unit, −1 when no token goes on so; 0 is where all begin */
  step(node: number, unit: number): number {
    return this.#children.get(node, unit);
  }

  /** @returns −1 when no token ends here */
  idAt(node: number): number {
    return this.#ids[node] ?? -1;
  }

  add(token: string, id: number): void {
    let node = 0;
    for (let place = 0; place < token.length; place++) {
      const unit = token.charCodeAt(place);
      let child = this.#children.get(node, unit);
      if (child < 0) {
        child = this.#addNode();
        this.#children.set(node, unit, child);
      }
      node = child;
    }
    this.#ids[node] = id;
  }

  #addNode(): number {
    if (this.#nodes === this.#ids.length) {
      const longer = new Int32Array(2 * this.#nodes).fill(-1);
      longer.set(this.#ids);
      this.#ids = longer;
    }
    this.#nodes += 1;
    return this.#nodes - 1;
  }
}
