// Questions of a decision as the domain sees them: ordered lists, so that names may be any text. The wire's objects
// are parsed into these in http/; models read them in runtime/families.

export interface ChoiceOption {
  readonly name: string;
  /** null: the name alone is the option. */
  readonly description: string | null;
}

export interface ChoiceQuestion {
  readonly type: 'choice';
  readonly instructions: string;
  /** 1 to 255, in the order of the request. */
  readonly options: readonly ChoiceOption[];
}

export interface ScoreQuestion {
  readonly type: 'score';
  readonly instructions: string;
  /** 2 to 10 descriptions, lowest level first. */
  readonly levels: readonly string[];
}

export interface NoulQuestion {
  readonly type: 'noul';
  readonly instructions: string;
  readonly whenFalse: string | null;
  readonly whenTrue: string | null;
}

/** What a model reads. The question's name is deliberately not part of it: names never reach a model. */
export type Question = ChoiceQuestion | ScoreQuestion | NoulQuestion;

export type QuestionType = Question['type'];

export interface NamedQuestion {
  readonly name: string;
  readonly question: Question;
}

export const QUESTION_LIMITS = {
  /** Questions of one request. Tokens are limited apart from this: it bounds what questions of no tokens can cost. */
  questions: { min: 1, max: 1024 },
  choiceOptions: { min: 1, max: 255 },
  scoreLevels: { min: 2, max: 10 },
  /** Longest question or option name, in UTF-16 code units. */
  nameLength: 1024,
} as const;
