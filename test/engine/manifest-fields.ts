// What the manifest of a model says whatever its family is.

export const COMMON_FIELDS = {
  description: 'd',
  release_date: '2026-01-02',
  owned_by: 'o',
  licence: 'l',
  graphs: {},
  price: { input_micro_usd_per_million_tokens: 1, output_micro_usd_per_million_tokens: 0 },
};
