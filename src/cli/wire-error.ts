// The error of a server's reply, in one line for a terminal.

/** @param body a reply that is no success; what is not in the protocol's form is shown as it came, in part */
export function errorMessage(body: string): string {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown; code?: unknown } };
    return `${String(parsed.error?.message)} (${String(parsed.error?.code)})`;
  } catch {
    return body.slice(0, 500);
  }
}
