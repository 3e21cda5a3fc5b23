// In which order the upstreams of a model are asked: as they are listed, or drawn by weight for each call. Pure but for the
// random numbers that it is given.

interface Weighted {
  /** undefined: the order of the list holds. */
  readonly weight: number | undefined;
}

/**
 * With weights, the chance of each to be the next is its share of the weights that are left.
 * @param random from 0 to below 1
 */
export function drawOrder<Member extends Weighted>(members: readonly Member[], random: () => number): Member[] {
  if (members.some(({ weight }) => weight === undefined)) return [...members];
  const left = [...members];
  const drawn: Member[] = [];
  while (left.length > 0) drawn.push(...left.splice(drawOne(left, random()), 1));
  return drawn;
}

/** @returns its place */
function drawOne(members: readonly Weighted[], share: number): number {
  let point = share * members.reduce((sum, { weight = 0 }) => sum + weight, 0);
  const place = members.findIndex(({ weight = 0 }) => {
    point -= weight;
    return point < 0;
  });
  return place === -1 ? members.length - 1 : place;
}
