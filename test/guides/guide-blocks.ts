// The blocks of code in a guide: commands that a reader types, and what the page says they print.

export interface GuideStep {
  readonly command: string;
  /** What the page shows below the command. undefined: nothing. */
  readonly shown: string | undefined;
}

const BLOCK = /(<!-- not run[^>]*-->\n)?^```(\w*)\n([\s\S]*?)^```$/gm;

/** Blocks of `sh` in the order of the page, but for those that a comment excludes, each with the `text` or `json` right below it. */
export function readSteps(page: string): GuideStep[] {
  const blocks = [...page.matchAll(BLOCK)].map((match) => ({
    isRun: match[2] === 'sh' && match[1] === undefined,
    isOutput: match[2] === 'text' || match[2] === 'json',
    text: match[3] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));
  return blocks.flatMap(({ isRun, text, end }, place) => {
    if (!isRun) return [];
    const next = blocks[place + 1];
    const isBelow = next?.isOutput === true && page.slice(end, next.start).trim() === '';
    return [{ command: text, shown: isBelow ? next.text : undefined }];
  });
}

/** The text of the first block of that language. */
export function firstBlock(page: string, language: string): string {
  return [...page.matchAll(BLOCK)].find((match) => match[2] === language)?.[3] ?? '';
}

/** What stays the same from one set of weights and one processor to the next: words, not figures. */
export function withoutFigures(printed: string): string {
  return printed
    .replace(/sha256:[0-9a-f]+/g, 'sha256:#')
    .replace(/[\d.]+|–/g, '#')
    .replace(/[ \t]+/g, ' ')
    .trim();
}
