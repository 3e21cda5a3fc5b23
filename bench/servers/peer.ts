// What the comparison knows of a server, ours or another: its name, how it is started and asked, and how its reply is read.
// Which servers there are stands in peers.ts.

import type { DecisionBody, Mix } from '../load/workload.ts';
import type { ServerProcess } from './server-process.ts';

/** One request before any server's own way of writing it. */
export type PeerJob =
  | { readonly task: 'decision'; readonly body: DecisionBody }
  | { readonly task: 'embedding'; readonly inputs: readonly string[] };

export type Task = PeerJob['task'];

export interface PeerRequest {
  /** All peers answer at the same paths, in the same terms. */
  readonly path: Mix['path'];
  readonly body: string;
}

/** A reply in terms that all peers share. Token counts are not among them: peers count differently, or not at all. */
export type PeerAnswer =
  | {
      readonly task: 'decision';
      /** `[questions][options]`, in the order of the request; noul: false, true. */
      readonly probabilities: readonly (readonly number[])[];
    }
  | {
      readonly task: 'embedding';
      /** `[inputs]`, as the server sent them. */
      readonly vectors: readonly Float32Array[];
    };

export interface Peer {
  /** Names it in results: `umpire`, `python`, `python-tuned`, `infinity`, …. */
  readonly id: string;
  /** For tables and plots. */
  readonly title: string;
  readonly tasks: readonly Task[];
  /** What is compared with what: ours, a peer as its users write it, or the same tuned for this machine. */
  readonly kind: 'ours' | 'as-written' | 'tuned';
  /** Every setting that is not the software's default, for the report. */
  readonly settings: Readonly<Record<string, string>>;
  /** Software and versions that answer, for the report. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * @param dataFolder the caller's: holds the log and what the server keeps, so a second start in it may be a warm one
   * @throws if it does not become ready; what it printed stands in the message
   */
  start(dataFolder: string): Promise<RunningPeer>;
}

export interface RunningPeer {
  readonly peer: Peer;
  readonly server: ServerProcess;
  readonly origin: string;
  /** For the `authorization` header of `BenchClient`; peers without keys do not read it. */
  readonly apiKey: string;
  /** Path and body; of the same cost for a job of the same shape. */
  requestFor(job: PeerJob): PeerRequest;
  /** @throws if the reply is not what the job asked for */
  readAnswer(job: PeerJob, text: string): PeerAnswer;
  stop(): Promise<void>;
}
