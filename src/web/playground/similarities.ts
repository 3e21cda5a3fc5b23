// How near vectors are to each other.

/** @returns those of a reply, in the order of its texts; empty where it has none */
export function readVectors(body: unknown): number[][] {
  const { data } = Object(body);
  if (!Array.isArray(data)) return [];
  return data.map((item: unknown) => {
    const { embedding } = Object(item);
    return Array.isArray(embedding) ? embedding.map(Number) : [];
  });
}

/** @returns the cosine of each two, row by row */
export function similaritiesOf(vectors: readonly (readonly number[])[]): number[][] {
  const lengths = vectors.map((vector) => Math.sqrt(product(vector, vector)));
  return vectors.map((one, row) =>
    vectors.map((other, column) => product(one, other) / ((lengths[row] ?? 0) * (lengths[column] ?? 0) || 1)),
  );
}

function product(one: readonly number[], other: readonly number[]): number {
  return one.reduce((total, value, index) => total + value * (other[index] ?? 0), 0);
}
