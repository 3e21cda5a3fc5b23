// A panel that holds one table, under a title.

import { h, type JSX } from 'preact';
import { DataTable, type DataTableProps } from './data-table.ts';

export type TablePanelProps<Row> = DataTableProps<Row> & { readonly title: string };

export function TablePanel<Row>({ title, ...table }: TablePanelProps<Row>): JSX.Element {
  return h('section', { class: 'panel panel-flush' }, [h('h3', null, title), h(DataTable<Row>, table)]);
}
