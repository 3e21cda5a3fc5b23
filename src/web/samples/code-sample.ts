// One request as a program that runs as it is pasted, with the key in a variable of the environment.

export interface CodeSample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly text: string;
}

/** With it a shell takes the body as it stands: no line of JSON is this word. */
const END = 'JSON';

/** @param body JSON */
export function postByCurl(url: string, body: string): string {
  return `${curlHead(url)} --data-binary @- <<'${END}'\n${body}\n${END}`;
}

/** `curl …` up to its body. */
export function curlHead(url: string): string {
  return `curl ${url} \\\n  -H "Authorization: Bearer $UMPIRE_API_KEY" -H "Content-Type: application/json" \\\n `;
}

/** Inside single quotes of a shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `"a": 1` over several lines, of members that are code already. */
export function writeMembers(members: readonly string[], indent: string): string {
  return members.map((member) => `${indent}${member},\n`).join('');
}
