// The marks that every picture is made of. Pure.

export interface Picture {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly fontSize: number;
}

export function drawSvg({ title, width, height, fontSize }: Picture, marks: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="${fontSize}" fill="#222222">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}

interface Words {
  readonly x: number;
  readonly y: number;
  readonly words: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  /** That of the picture, where none is given. */
  readonly size?: number;
}

export function text({ x, y, words, anchor = 'start', size }: Words): string {
  const anchored = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  const sized = size === undefined ? '' : ` font-size="${size}"`;
  return `<text x="${round(x)}" y="${round(y)}"${anchored}${sized}>${escapeXml(words)}</text>`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
