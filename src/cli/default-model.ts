// Which model a command asks where none is named: the decision model that comes with the program.

export const DEFAULT_MODEL = 'kev';

/** The model for embeddings that comes with it. */
export const DEFAULT_EMBEDDING_MODEL = 'text-embed-mini';
