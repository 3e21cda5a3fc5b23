// The decision model as `@ai-sdk/typesafe-ai` gives it, in the type that the newest `ai` wants.

import { createTypeSafeAi } from '@ai-sdk/typesafe-ai';
import type { experimental_evaluate } from 'ai';

type EvaluationModel = Exclude<Parameters<typeof experimental_evaluate>[0]['model'], string>;

/** The provider's own types are those of the oldest release; what it does serves both. */
export function openEvaluationModel(server: { readonly apiKey: string; readonly baseURL: string }): EvaluationModel {
  return createTypeSafeAi(server).evaluationModel('kev') as unknown as EvaluationModel;
}
