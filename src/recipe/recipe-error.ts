// Why a repository cannot become a model folder, or cannot without a word of the operator. The message says what was
// found, where, and which option answers it.

export class RecipeError extends Error {
  override readonly name = 'RecipeError';
}
