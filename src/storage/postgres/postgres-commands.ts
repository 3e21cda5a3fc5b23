// The commands of PostgreSQL's own programs for a store, as a shell takes them. Passwords are never in them.

export function dumpCommand(url: string, file: string): string {
  return `pg_dump --format=custom --file=${quote(file)} ${quote(withoutPassword(url))}`;
}

export function restoreCommand(url: string, file: string): string {
  const database = quote(withoutPassword(url));
  return `pg_restore --clean --if-exists --no-owner --single-transaction --dbname=${database} ${quote(file)}`;
}

/** For messages: `PostgreSQL db.example.com:5432/umpire`. */
export function describePostgres(url: string): string {
  const { host, pathname } = new URL(url);
  return `PostgreSQL ${host}${pathname}`;
}

/** The programs ask for the password, or take it from PGPASSWORD or ~/.pgpass. */
function withoutPassword(text: string): string {
  const url = new URL(text);
  url.password = '';
  url.searchParams.delete('password');
  url.searchParams.delete('sslpassword');
  return url.href;
}

function quote(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
