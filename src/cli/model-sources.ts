// What the commands around pulled models ask of the program, and what they are told.

import type { TakeProgress } from '../hub/model-files.ts';
import type { RecipeChoices, RecipeFact } from '../recipe/recipe.ts';

export interface PullRequest {
  /** `organisation/name@revision`, or the path of a folder. */
  readonly source: string;
  /** Of the model here; absent: made from the source's name. */
  readonly id?: string | undefined;
  readonly choices: RecipeChoices;
  /** From the cache of the hub's own tools; nobody is asked. */
  readonly isFromCache: boolean;
  /** Instead of the configured hub. */
  readonly endpoint?: string | undefined;
  readonly acceptsLicence: boolean;
  /** Made once more, though this commit is here. */
  readonly isAnew: boolean;
}

/** What a pull would do, before it fetches anything large. */
export interface PullPlan {
  readonly id: string;
  /** Where it comes from, in words. */
  readonly source: string;
  readonly commit: string | undefined;
  readonly licence: string;
  /** Why the licence must be accepted; undefined: it need not be. */
  readonly licenceCondition: string | undefined;
  readonly recipe: readonly RecipeFact[];
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

export type PullNews =
  | { readonly kind: 'plan'; readonly plan: PullPlan }
  | { readonly kind: 'taking'; readonly progress: TakeProgress }
  | { readonly kind: 'step' | 'warning'; readonly text: string };

export interface PullWatcher {
  readonly signal: AbortSignal;
  tell(news: PullNews): void;
}

/** All that is known of a model folder. */
export interface ModelDetails {
  readonly id: string;
  readonly type: string;
  readonly family: string;
  readonly description: string;
  readonly folder: string;
  readonly digest: string;
  readonly licence: string;
  /** ISO date; undefined: it did not have to be. */
  readonly licenceAccepted: string | undefined;
  /** Address of the hub, repository and commit. */
  readonly source: { readonly endpoint: string; readonly repo: string; readonly commit: string } | undefined;
  readonly precisions: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  /** Of a model that answers questions. */
  readonly isCalibrated: boolean | undefined;
  readonly recipe: readonly RecipeFact[];
  readonly probe:
    | {
        readonly date: string;
        /** By quantized precision, in words. */
        readonly agreement: Readonly<Record<string, string>>;
        readonly peakBytes: number;
        readonly statedTokens: number;
      }
    | undefined;
}

export interface PulledModel {
  readonly model: ModelDetails;
  /** `present`: this commit was here already, and nothing was fetched. */
  readonly outcome: 'pulled' | 'replaced' | 'present';
}

export interface PulledFolder {
  readonly folder: string;
  readonly bytes: number;
  /** Ids of learned models that cannot be served without it. */
  readonly learnedOn: readonly string[];
}

export interface ModelSources {
  /** @throws HubError, RecipeError, StartError; the signal's reason */
  pull(request: PullRequest, watcher: PullWatcher): Promise<PulledModel>;
  /** A model that is here, or what a pull would do. */
  inspect(request: PullRequest, signal: AbortSignal): Promise<ModelDetails | PullPlan>;
  /** The folder of a pulled model. @throws StartError when there is none */
  findPulled(id: string): Promise<PulledFolder>;
  remove(id: string): Promise<void>;
}
