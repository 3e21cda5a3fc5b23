// A hub's words for licences as identifiers of SPDX, and which of them an operator must take knowingly.

/** What the hub writes in lower case. Whatever is not here keeps its own name. */
const SPDX: Readonly<Record<string, string>> = {
  'apache-2.0': 'Apache-2.0',
  mit: 'MIT',
  'bsd-2-clause': 'BSD-2-Clause',
  'bsd-3-clause': 'BSD-3-Clause',
  'bsd-3-clause-clear': 'BSD-3-Clause-Clear',
  isc: 'ISC',
  'mpl-2.0': 'MPL-2.0',
  'lgpl-3.0': 'LGPL-3.0-only',
  'gpl-3.0': 'GPL-3.0-only',
  'gpl-2.0': 'GPL-2.0-only',
  'agpl-3.0': 'AGPL-3.0-only',
  'cc0-1.0': 'CC0-1.0',
  'cc-by-2.0': 'CC-BY-2.0',
  'cc-by-3.0': 'CC-BY-3.0',
  'cc-by-4.0': 'CC-BY-4.0',
  'cc-by-sa-3.0': 'CC-BY-SA-3.0',
  'cc-by-sa-4.0': 'CC-BY-SA-4.0',
  'cc-by-nd-4.0': 'CC-BY-ND-4.0',
  'cc-by-nc-2.0': 'CC-BY-NC-2.0',
  'cc-by-nc-3.0': 'CC-BY-NC-3.0',
  'cc-by-nc-4.0': 'CC-BY-NC-4.0',
  'cc-by-nc-sa-4.0': 'CC-BY-NC-SA-4.0',
  'cc-by-nc-nd-4.0': 'CC-BY-NC-ND-4.0',
  'artistic-2.0': 'Artistic-2.0',
  'ecl-2.0': 'ECL-2.0',
  'epl-2.0': 'EPL-2.0',
  'eupl-1.2': 'EUPL-1.2',
  unlicense: 'Unlicense',
  wtfpl: 'WTFPL',
  zlib: 'Zlib',
  'ms-pl': 'MS-PL',
  'afl-3.0': 'AFL-3.0',
  'bsl-1.0': 'BSL-1.0',
  'odc-by': 'ODC-By-1.0',
};
const FORBIDS_MONEY = /-nc(-|$)/;

export interface ModelLicence {
  /** Of SPDX, or what the repository calls it. */
  readonly name: string;
  /** Why it must be accepted by whoever takes the model; undefined: it need not be. */
  readonly condition: string | undefined;
}

/** @param stated the identifier that the card has. @param name of one that is `other` */
export function describeLicence(stated: string | undefined, name: string | undefined): ModelLicence {
  const id = stated?.trim().toLowerCase() ?? '';
  if (id === '' || id === 'unknown') return { name: name ?? 'unknown', condition: 'the repository states no licence' };
  const spdx = Object.hasOwn(SPDX, id) ? SPDX[id] : undefined;
  if (FORBIDS_MONEY.test(id)) return { name: spdx ?? id, condition: 'it forbids commercial use' };
  if (spdx !== undefined) return { name: spdx, condition: undefined };
  return { name: name ?? stated ?? id, condition: 'it has conditions of its own' };
}
