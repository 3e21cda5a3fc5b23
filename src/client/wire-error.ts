// The error of a server's reply.

/** Of the protocol's form; a member that is missing is an empty text. */
interface WireError {
  readonly message: string;
  readonly code: string;
  /** Which field it is about, by position. */
  readonly param: string;
}

const SHOWN_CHARACTERS = 500;

/** @param body a reply that is no success; what is not in the protocol's form is shown as it came, in part */
function readWireError(body: string): WireError {
  try {
    const { error } = JSON.parse(body) as { error: { message?: unknown; code?: unknown; param?: unknown } };
    return { message: textOf(error.message), code: textOf(error.code), param: textOf(error.param) };
  } catch {
    return { message: body.slice(0, SHOWN_CHARACTERS), code: '', param: '' };
  }
}

/** In one line for a terminal. */
export function errorMessage(body: string): string {
  const { message, code } = readWireError(body);
  return code === '' ? message : `${message} (${code})`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
