// From questions to the statements that a model of entailment judges beside the state, exactly as models/README.md says.
// Pure; the same on either thread.

import type { ChoiceOption, NoulQuestion, Question } from '../../../domain/question.ts';
import type { EntailmentManifest } from '../../model-folder/manifest.ts';

/** What a placeholder of the template stands for. */
interface OptionTexts {
  /** The name, or `name: description`. */
  readonly option: string;
  readonly label: string;
  /** The name where there is none. */
  readonly description: string;
  readonly instructions: string;
}

const PLACEHOLDER = /\{(option|label|description|instructions)\}/g;

/**
 * Second texts of the pairs that one question takes, the state being the first: one for each option or level. A noul has
 * the statement that it is true, after that of false if false has a criterion.
 */
export function hypothesesOf(question: Question, { hypothesis }: Pick<EntailmentManifest, 'hypothesis'>): string[] {
  switch (question.type) {
    case 'choice':
      return question.options.map((option) => fill(hypothesis, optionTexts(option, question.instructions)));
    case 'score': {
      const { instructions, levels } = question;
      return levels.map((level) => fill(hypothesis, optionTexts({ name: level, description: null }, instructions)));
    }
    case 'noul':
      return noulStatements(question);
  }
}

function optionTexts({ name, description }: ChoiceOption, instructions: string): OptionTexts {
  const option = description ? `${name}: ${description}` : name;
  return { option, label: name, description: description || name, instructions };
}

/** In one pass: braces in what is put in stay text. */
function fill(hypothesis: string, texts: OptionTexts): string {
  return hypothesis.replaceAll(PLACEHOLDER, (_, name: keyof OptionTexts) => texts[name]);
}

/** They are statements already: no template. */
function noulStatements({ instructions, whenFalse, whenTrue }: NoulQuestion): string[] {
  const isTrue = whenTrue || instructions;
  return whenFalse ? [whenFalse, isTrue] : [isTrue];
}
