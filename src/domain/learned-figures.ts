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

export interface MeasuredJson {
  readonly accuracy: FigureJson;
  readonly macro_f1: FigureJson;
  readonly ece: FigureJson;
  readonly answered_at_5: FigureJson;
}

interface FigureJson {
  /** null: there were no rows for it. */
  readonly mean: number | null;
  readonly spread: number | null;
}

/** As manifests and replies have them. */
export function measuredToJson({ accuracy, macroF1, ece, answeredAt5 }: MeasuredFigures): MeasuredJson {
  return {
    accuracy: figureToJson(accuracy),
    macro_f1: figureToJson(macroF1),
    ece: figureToJson(ece),
    answered_at_5: figureToJson(answeredAt5),
  };
}

/** JSON has no NaN. */
function figureToJson({ mean, spread }: MeanAndSpread): FigureJson {
  return { mean: Number.isNaN(mean) ? null : mean, spread: Number.isNaN(spread) ? null : spread };
}
