// Texts for a load test: fresh ones, so that no cache of the server answers them. Pure and seeded.

const WORDS = `
the a customer order payment account team support service product delivery address number system error page report problem
question answer message email phone call manager office contract price discount credit card bank charge month week day
morning evening yesterday today tomorrow late early broken missing wrong right new old first second last next please help
need want ask tell send receive return change cancel confirm check update open close start stop wait work fail because after
before during without with from into over under again still never always often only also very quite small large heavy light
fast slow long short good bad better worse house school hospital airport train station hotel restaurant garden kitchen`
  .trim()
  .split(/\s+/);

/** mulberry32. @returns numbers in [0, 1) */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ordinary English words, most of them one token each. */
export function sampleText(words: number, random: () => number): string {
  return Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)] ?? '').join(' ');
}
