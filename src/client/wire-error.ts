// The error of a server's reply.

/** Of the protocol's form; a member that is missing is an empty text. */
export interface WireError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  /** Which field it is about, by position. */
  readonly param: string;
}

const SHOWN_CHARACTERS = 500;

/** @param body a reply that is no success; what is not in the protocol's form is shown as it came, in part */
export function readWireError(body: string): WireError {
  try {
    const { error } = JSON.parse(body) as { error: { [member in keyof WireError]?: unknown } };
    const { message, type, code, param } = error;
    return { message: textOf(message), type: textOf(type), code: textOf(code), param: textOf(param) };
  } catch {
    return { message: body.slice(0, SHOWN_CHARACTERS), type: '', code: '', param: '' };
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
