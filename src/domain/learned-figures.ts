// What a learned question is worth beside the zero-shot answer, as reports, folders and cards tell it.

export interface MeanAndSpread {
  readonly mean: number;
  /** Standard deviation between the folds of the cross-validation. */
  readonly spread: number;
}

/** 0 to 1, from rows that nothing was fitted on. */
export interface MeasuredFigures {
  readonly accuracy: MeanAndSpread;
  readonly macroF1: MeanAndSpread;
  readonly ece: MeanAndSpread;
  /** Share that can be answered at 5 % error. */
  readonly answeredAt5: MeanAndSpread;
}

export interface LearnedFigures {
  readonly zeroShot: MeasuredFigures;
  readonly learned: MeasuredFigures;
}
