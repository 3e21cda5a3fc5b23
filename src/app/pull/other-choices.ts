// Whether a model that is here already was made as the operator wants it now, by the options of the command.

import type { RecipeChoices } from '../../recipe/recipe.ts';
import type { Manifest } from '../../runtime/model-folder/manifest.ts';

/** @returns in words, option by option, what the model was made with instead; empty: the options change nothing */
export function listOtherChoices(manifest: Manifest, choices: RecipeChoices): string[] {
  const { recipe = [], graphs } = manifest;
  const factOf = (what: string): string => recipe.find((fact) => fact.what === what)?.value ?? 'none';
  const paths = recipe.filter(({ what }) => what.startsWith('graph ')).map(({ value }) => value);
  const labels = 'labels' in manifest ? manifest.labels : undefined;
  const isInside = paths.every((path) => path.startsWith(`${choices.subfolder}/`));
  const made: readonly (readonly [option: string, given: unknown, made: string | undefined])[] = [
    ['--family', choices.kind, factOf('family')],
    ['--pooling', choices.pooling, factOf('pooling')],
    ['--template', choices.hypothesis && asStatement(choices.hypothesis), factOf('statement')],
    ['--max-tokens', choices.maxTokens, factOf('tokens of a row')],
    ['--entailment-index', choices.entailment, String(labels?.entailment ?? 'none')],
    ['--contradiction-index', choices.contradiction, String(labels?.contradiction ?? 'none')],
    ['--file', choices.file, paths.join(', ')],
    ['--subfolder', choices.subfolder, isInside ? choices.subfolder : paths.join(', ')],
    ['--precision', choices.precisions?.toSorted().join(', '), Object.keys(graphs).sort().join(', ')],
  ];
  return made
    .filter(([, given, was]) => given !== undefined && String(given) !== was)
    .map(([option, given, was]) => `${option} ${given} (made with ${was})`);
}

/** As the recipe tells it. */
function asStatement(template: string): string {
  return JSON.stringify(template.replaceAll('{}', '{option}'));
}
