// A model folder in the words of `umpire models inspect`.

import type { ModelDetails } from '../../cli/model-sources.ts';
import { isCalibrated, type ModelFolder, type ProbeAgreement } from '../../runtime/model-folder/manifest.ts';

export function describeFolder({ path, manifest, digest }: ModelFolder): ModelDetails {
  const { source, probe } = manifest;
  return {
    id: manifest.id,
    type: manifest.type,
    family: manifest.family,
    description: manifest.description,
    folder: path,
    digest,
    licence: manifest.licence,
    licenceAccepted: manifest.licence_accepted,
    source: source && { endpoint: source.endpoint, repo: source.repo, commit: source.commit },
    precisions: Object.keys(manifest.graphs),
    limits: manifest.limits,
    isCalibrated: manifest.type === 'decision' ? isCalibrated(manifest) : undefined,
    recipe: manifest.recipe ?? [],
    probe: probe && {
      date: probe.date,
      agreement: Object.fromEntries(
        Object.entries(probe.agreement).map(([precision, figures]) => [precision, tellAgreement(figures)]),
      ),
      peakBytes: probe.peak_bytes,
      statedTokens: probe.stated_tokens,
    },
  };
}

function tellAgreement(figures: 'unchecked' | ProbeAgreement): string {
  if (figures === 'unchecked') return 'unchecked: there was no fp32 graph';
  const { rows, least_cosine: cosine, largest_shift: shift } = figures;
  const worst =
    cosine === undefined
      ? `probabilities within ${(shift ?? 0).toFixed(4)}`
      : `cosine ${(Math.floor(cosine * 1e4) / 1e4).toFixed(4)} or more`;
  return `${worst} of fp32, ${rows} answers`;
}
