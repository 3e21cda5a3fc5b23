// A table that becomes a list of cards where there is no room for columns. Roles are named, because such a layout takes
// them from a table.

import { type ComponentChildren, h, type JSX } from 'preact';

export interface TableColumn<Row> {
  readonly heading: string;
  readonly show: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** On one line. */
  readonly isShort?: boolean;
  /** Names the row: the head of its card. */
  readonly isName?: boolean;
}

export interface DataTableProps<Row> {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** In place of rows, where there are none: what to do. */
  readonly none: ComponentChildren;
}

export function DataTable<Row>({ caption, columns, rows, keyOf, none }: DataTableProps<Row>): JSX.Element {
  if (rows.length === 0) return h('div', { class: 'empty' }, none);
  const heads = columns.map(({ heading, isNumber }) =>
    h('th', { scope: 'col', role: 'columnheader', class: isNumber ? 'number' : '' }, heading),
  );
  return h('table', { class: 'data-table', role: 'table' }, [
    h('caption', { class: 'for-ears' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)),
    h(
      'tbody',
      { role: 'rowgroup' },
      rows.map((row) =>
        h(
          'tr',
          { role: 'row', key: keyOf(row) },
          columns.map((column) => showCell(column, row)),
        ),
      ),
    ),
  ]);
}

function showCell<Row>({ heading, show, isNumber, isShort, isName }: TableColumn<Row>, row: Row): JSX.Element {
  const looks = [isNumber ? 'number' : '', isShort ? 'short' : '', isName ? 'name' : ''].join(' ').trim();
  if (isName) return h('th', { scope: 'row', role: 'rowheader', class: looks }, show(row));
  return h('td', { role: 'cell', class: looks, 'data-label': heading }, show(row));
}
