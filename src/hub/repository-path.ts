// Which paths of a repository may become paths of this machine. A hub is a stranger: what it lists decides where we write.

const DEVICE_NAME = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Of a file system; Windows counts UTF-16 units, others bytes. */
const MAX_NAME_BYTES = 255;

/** @returns why no repository has such a path, unless it means harm: the listing is refused; undefined: all is well */
export function findPathFault(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (CONTROL.test(path)) return 'it has a control character';
  if (path.includes('\\')) return 'it has a backslash';
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'it is absolute';
  const parts = path.split('/');
  if (parts.includes('..') || parts.includes('.')) return 'it leads elsewhere';
  return parts.includes('') ? 'a part of it is empty' : undefined;
}

/** @returns why a file with a harmless path can still not lie on every machine */
export function findNameFault(path: string): string | undefined {
  if (!path.isWellFormed()) return 'its name is no text';
  for (const part of path.split('/')) {
    if (/[<>:"|?*]/.test(part)) return `its name has a character that Windows keeps for itself`;
    if (/[. ]$/.test(part)) return 'its name ends in a dot or a space';
    if (DEVICE_NAME.test(part)) return `its name is one of a device on Windows`;
    if (Buffer.byteLength(part) > MAX_NAME_BYTES) return 'its name is too long';
  }
  return undefined;
}

/** A path for messages and terminals, whatever it holds. */
export function showPath(path: string): string {
  return JSON.stringify(path.length > MAX_NAME_BYTES ? `${path.slice(0, MAX_NAME_BYTES)}…` : path);
}
