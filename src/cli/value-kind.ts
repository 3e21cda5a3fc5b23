// What the value of an option or a setting may be, for completion.

/** One of these words, a path, or the id of a configured model. */
export type ValueKind = readonly string[] | 'file' | 'folder' | 'model';
