// The servers of the comparison, in the order of its tables: ours, then each peer as its users write it, then tuned.

import { listDecisionPeers } from './decision-peers.ts';
import { listEmbeddingPeers } from './embedding-peers.ts';
import type { Peer } from './peer.ts';
import { makeUmpirePeer } from './umpire-peer.ts';

export interface PeerOptions {
  /** Where `bench/install-peers.ts` made the Python environments. */
  readonly environmentsFolder: string;
}

export function listPeers({ environmentsFolder }: PeerOptions): readonly Peer[] {
  return [makeUmpirePeer(), ...listDecisionPeers(environmentsFolder), ...listEmbeddingPeers(environmentsFolder)];
}
