// How words stand out on a terminal. Whether they do is decided where the terminal is known (app/program.ts).

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** @returns the text as it is where colours are not wanted */
export type Paint = (style: Style, text: string) => string;
