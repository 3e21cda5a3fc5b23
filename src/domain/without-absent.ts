// An object without the members that were not given, so that what is left out stays as it is. Pure.

export type Given<Members extends object> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

export function withoutAbsent<Members extends object>(members: Members): Given<Members> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Given<Members>;
}
