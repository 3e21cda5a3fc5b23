// The servers of the comparison, in the order of its tables: ours, then each peer as its users write it, then tuned.

import type { Peer } from './peer.ts';

export interface PeerOptions {
  /** Where `bench/peers/install.ts` made the Python environments. */
  readonly environmentsFolder: string;
}

export function listPeers(_options: PeerOptions): readonly Peer[] {
  return [];
}
