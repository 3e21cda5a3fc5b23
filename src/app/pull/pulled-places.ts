// Where pulled models lie, and what lies beside them while one is being pulled. Whatever begins with a dot is no model.

import { join } from 'node:path';

export interface PulledPlaces {
  readonly folder: string;
  /** Files as the repository has them; stays when a pull is broken off, for the next one. */
  readonly staging: string;
  /** The folder that is being made. */
  readonly draft: string;
  /** The one that was there before, while it is being replaced. */
  readonly former: string;
  readonly lock: string;
}

export function pulledModelsDir(dataDir: string): string {
  return join(dataDir, 'models');
}

export function placesOf(dataDir: string, id: string): PulledPlaces {
  const models = pulledModelsDir(dataDir);
  return {
    folder: join(models, id),
    staging: join(models, `.pull-${id}`),
    draft: join(models, `.draft-${id}`),
    former: join(models, `.former-${id}`),
    lock: join(models, '.locks', `${id}.lock`),
  };
}
