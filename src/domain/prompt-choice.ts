// Which of an embedding model's prompts a caller means. What the prompts are is the model's.

/** What a text is for, as a caller of any model may say it; a model has a prompt for it, or none. */
export type InputType = 'query' | 'document' | 'classification' | 'clustering';

/** Which prompt is put before every input: by its name, or by what the inputs are for. */
export type PromptChoice = { readonly name: string } | { readonly inputType: InputType };
