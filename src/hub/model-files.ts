// The files of one model as a list that files are taken from, wherever they lie: on a hub, in the cache of the hub's own
// tools, in a folder of this machine. Types alone.

/** A repository at one commit: what never changes any more. */
export interface RepositoryCommit {
  /** Address of the hub, without a slash at its end. */
  readonly endpoint: string;
  /** `organisation/name`; old ones are `name` alone. */
  readonly repo: string;
  /** 40 hex digits. */
  readonly commit: string;
}

/** What somebody says of a repository; whoever wrote it may be wrong. */
export interface RepositoryFacts {
  /** As its card has it: an identifier of SPDX mostly, in lower case, or `other`. undefined: it says none. */
  readonly licence: string | undefined;
  /** Of a licence that is `other`. */
  readonly licenceName: string | undefined;
  readonly licenceLink: string | undefined;
  /** Whether its conditions must be accepted before its files are given out. */
  readonly isGated: boolean;
  readonly isPrivate: boolean;
  readonly tags: readonly string[];
}

/** What the bytes of a file must be. `git-sha1` is that of a git blob, which counts the file's size in. */
export interface FileHash {
  readonly algorithm: 'sha256' | 'git-sha1';
  /** Lower case. */
  readonly hex: string;
}

export interface RepositoryFile {
  /** `onnx/model.onnx`: safe to be joined to a folder. */
  readonly path: string;
  readonly bytes: number;
  /** undefined: nobody says, as in a folder of this machine. */
  readonly hash: FileHash | undefined;
  /** Why it cannot be taken; undefined: it can. */
  readonly fault: string | undefined;
}

/** A file that lies in the folder, complete, verified and on disk. */
export interface TakenFile {
  /** In the repository. */
  readonly path: string;
  readonly localPath: string;
  readonly bytes: number;
  /** Of what was written, whatever the repository said; lower-case hex. */
  readonly sha256: string;
}

export interface TakeProgress {
  /** The file that is being taken. */
  readonly path: string;
  /** Of all files that were asked for; what an earlier run left counts. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Of the last seconds; undefined: too early to say. */
  readonly bytesPerSecond: number | undefined;
  readonly secondsLeft: number | undefined;
  /** The hub has failed or asked for patience: when it is asked again, in seconds from now. */
  readonly waitSeconds?: number;
}

export interface TakeOptions {
  /** Is made. What an earlier run left in it, whole files and `<hash>.partial`, is verified and gone on with. */
  readonly folder: string;
  /** Called some times a second at most. */
  readonly onProgress?: (progress: TakeProgress) => void;
  /** Ends it with the signal's reason; what is there by then stays for the next run. */
  readonly signal?: AbortSignal;
}

export interface ModelFiles {
  /** `acme/reranker at 0123456789ab of https://huggingface.co`, `the folder /srv/reranker` */
  readonly description: string;
  /** undefined: a folder of this machine, with no repository behind it. */
  readonly origin: RepositoryCommit | undefined;
  readonly facts: RepositoryFacts;
  /** By path. */
  readonly files: readonly RepositoryFile[];
  /**
   * Brings files into a folder, each under its path in the repository.
   * @param paths of `files`
   * @returns in the same order
   * @throws HubError in words; the signal's reason
   */
  take(paths: readonly string[], options: TakeOptions): Promise<readonly TakenFile[]>;
}
