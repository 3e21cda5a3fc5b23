// What models cost now, what they cost before and will cost, and a new price.

import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { askAdmin, askWholeList, serverNowMs } from './admin-api.ts';
import type { TableColumn } from './data-table.ts';
import { FormField } from './form-field.ts';
import { useFormSending } from './form-sending.ts';
import { KeyName } from './key-names.ts';
import { usePolled } from './polled.ts';
import { Moment } from './shown-figures.ts';
import { TablePanel } from './table-panel.ts';
import type { PriceAmounts, ShownDatedPrice, ShownPrice } from './wire-types.ts';

const REFRESH_MS = 30_000;

interface KnownPrices {
  readonly current: readonly ShownPrice[];
  readonly history: readonly ShownDatedPrice[];
}

async function loadPrices(signal: AbortSignal): Promise<KnownPrices> {
  const [current, history] = await Promise.all([
    askAdmin<{ readonly data: readonly ShownPrice[] }>('/prices', { signal }),
    askWholeList<ShownDatedPrice>('/prices/history?', signal),
  ]);
  return { current: current.data, history: history.items };
}

export function PricesSection(): JSX.Element {
  const { value, error, refresh } = usePolled(loadPrices, REFRESH_MS);
  const models = value?.current.map(({ model }) => model) ?? [];
  return h('div', { class: 'section' }, [
    h('div', { class: 'toolbar' }, [
      h('h2', null, 'Prices'),
      h('p', { class: 'soft' }, 'US dollars per 1,000,000 tokens'),
    ]),
    h(ErrorNotice, { error }),
    h('div', { class: 'prices' }, [
      h('div', { class: 'section' }, [
        value === undefined ? null : h(CurrentPrices, { prices: value.current }),
        value === undefined ? null : h(PriceHistory, { known: value }),
      ]),
      h(PriceForm, { models, onSet: refresh }),
    ]),
  ]);
}

const AMOUNTS: readonly TableColumn<PriceAmounts>[] = [
  { heading: 'Input', isNumber: true, show: ({ input_usd }) => `$${input_usd}` },
  { heading: 'Cached input', isNumber: true, show: ({ cached_input_usd }) => `$${cached_input_usd}` },
  { heading: 'Output', isNumber: true, show: ({ output_usd }) => `$${output_usd}` },
];

function CurrentPrices({ prices }: { readonly prices: readonly ShownPrice[] }): JSX.Element {
  const columns: readonly TableColumn<ShownPrice>[] = [
    { heading: 'Model', isName: true, show: ({ model }) => model },
    { heading: 'Type', show: ({ type }) => type },
    ...AMOUNTS,
    {
      heading: 'Since',
      show: ({ source, effective_from }) =>
        source === 'own' ? "the model's own price" : h(Moment, { at: effective_from }),
    },
  ];
  return h(TablePanel<ShownPrice>, {
    title: 'In force now',
    caption: 'Prices in force now',
    columns,
    rows: prices,
    keyOf: ({ model }) => model,
    none: 'This server offers no model.',
  });
}

function PriceHistory({ known }: { readonly known: KnownPrices }): JSX.Element {
  const columns: readonly TableColumn<ShownDatedPrice>[] = [
    { heading: 'Model', isName: true, show: ({ model }) => model },
    {
      heading: 'State',
      show: (price) => {
        const state = priceState(price, known);
        return h('span', { class: `pill pill-price-${state}` }, state === 'now' ? 'in force' : state);
      },
    },
    ...AMOUNTS,
    { heading: 'From', show: ({ effective_from }) => h(Moment, { at: effective_from }) },
    { heading: 'Set by', show: ({ created_by }) => h(KeyName, { id: created_by }) },
  ];
  return h(TablePanel<ShownDatedPrice>, {
    title: 'History',
    caption: 'Prices that were set, by model, the latest first',
    columns,
    rows: known.history,
    keyOf: ({ model, effective_from }) => `${model} ${effective_from}`,
    none: 'No price was ever set: every model has its own. Set one beside, and it is in force from its moment on.',
  });
}

/** By what the server says is in force; of a model that it does not offer, by its clock. */
function priceState(price: ShownDatedPrice, { current, history }: KnownPrices): 'now' | 'planned' | 'past' {
  const ofModel = history.filter(({ model }) => model === price.model).map(({ effective_from }) => effective_from);
  const begun = ofModel.filter((from) => Date.parse(from) <= serverNowMs()).sort();
  const served = current.find(({ model }) => model === price.model);
  const inForce = served === undefined ? begun.at(-1) : served.effective_from;
  if (price.effective_from === inForce) return 'now';
  return inForce === undefined || inForce === null || price.effective_from > inForce ? 'planned' : 'past';
}

const EMPTY_PRICE = { model: '', input_usd: '', cached_input_usd: '', output_usd: '', effective_from: '' };

type NewPriceReply = ShownDatedPrice & { readonly model_is_served: boolean };

interface PriceFormProps {
  readonly models: readonly string[];
  readonly onSet: () => void;
}

function PriceForm({ models, onSet }: PriceFormProps): JSX.Element {
  const [fields, setFields] = useState(EMPTY_PRICE);
  const [said, setSaid] = useState('');
  const { error, wrong, isSending, send } = useFormSending(async () => {
    setSaid('');
    const set = await askAdmin<NewPriceReply>('/prices', { method: 'POST', body: newPriceOf(fields) });
    setFields(EMPTY_PRICE);
    setSaid(`The price of ${set.model} is set.${set.model_is_served ? '' : ' This server does not offer it now.'}`);
    onSet();
  });
  const field = (
    param: keyof typeof EMPTY_PRICE,
    label: string,
    extra: { hint?: string; isRequired?: boolean; type?: 'datetime-local'; list?: string } = {},
  ) =>
    h(FormField, {
      label,
      param,
      wrong,
      value: fields[param],
      onInput: (text) => setFields({ ...fields, [param]: text }),
      ...extra,
    });
  return h('form', { class: 'panel form', onSubmit: send }, [
    h('h3', null, 'Set a price'),
    h('p', { class: 'soft' }, 'A price is never changed: a later one takes its place, and past requests keep theirs.'),
    field('model', 'Model', { isRequired: true, list: 'price-models' }),
    h(
      'datalist',
      { id: 'price-models' },
      models.map((model) => h('option', { key: model, value: model })),
    ),
    field('input_usd', 'Input', { isRequired: true, hint: 'Such as 0.0378' }),
    field('cached_input_usd', 'Cached input', { hint: 'Empty: as input.' }),
    field('output_usd', 'Output', { isRequired: true, hint: '0 for decisions and embeddings' }),
    field('effective_from', 'From', { type: 'datetime-local', hint: 'In your time zone. Empty: now.' }),
    h(ErrorNotice, { error }),
    h('p', { role: 'status', class: said === '' ? 'for-ears' : 'notice notice-good' }, said),
    h('button', { type: 'submit', class: 'button button-strong', disabled: isSending }, 'Set price'),
  ]);
}

function newPriceOf({ model, input_usd, cached_input_usd, output_usd, effective_from }: typeof EMPTY_PRICE): object {
  const [cached, input, output] = [cached_input_usd, input_usd, output_usd].map((amount) => amount.trim());
  return {
    model: model.trim(),
    input_usd: input,
    ...(cached === '' ? {} : { cached_input_usd: cached }),
    output_usd: output,
    ...(effective_from === '' ? {} : { effective_from: new Date(effective_from).toISOString() }),
  };
}
