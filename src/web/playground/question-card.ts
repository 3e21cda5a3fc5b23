// One question as a form.

import { type ComponentChildren, h, type JSX, type TargetedEvent } from 'preact';
import { ErrorNotice } from '../components/notice.ts';
import { changeDraft, gaps, removeDraft } from './decision-form.ts';
import { DRAFT_TYPES, type DraftType, type OptionDraft, type QuestionDraft } from './question-draft.ts';

const TYPE_LABELS: Readonly<Record<DraftType, string>> = {
  choice: 'Choice: one of several',
  noul: 'Noul: yes or no',
  score: 'Score: a level on a scale',
};

export interface QuestionCardProps {
  readonly draft: QuestionDraft;
  /** From 1. */
  readonly number: number;
  /** What the server said of this question. */
  readonly error: unknown;
}

export function QuestionCard({ draft, number, error }: QuestionCardProps): JSX.Element {
  const gap = gaps.value.get(draft.id);
  const change = (changed: Partial<QuestionDraft>): void => changeDraft(draft.id, changed);
  return h('fieldset', { class: 'question' }, [
    h('legend', { class: 'for-ears' }, `Question ${number}`),
    h('div', { class: 'question-head' }, [
      h(TextInput, { label: 'Name', value: draft.name, onChange: (name) => change({ name }) }),
      h('label', { class: 'field' }, [
        h('span', { class: 'field-label' }, 'Type'),
        h(
          'select',
          {
            value: draft.type,
            onChange: (event: TargetedEvent<HTMLSelectElement>) =>
              change({ type: readType(event.currentTarget.value) }),
          },
          DRAFT_TYPES.map((type) => h('option', { value: type }, TYPE_LABELS[type])),
        ),
      ]),
      h(RemoveButton, { label: `Remove question ${number}`, onClick: () => removeDraft(draft.id) }),
    ]),
    h(TextInput, {
      label: 'Question',
      value: draft.instructions,
      onChange: (instructions) => change({ instructions }),
    }),
    h(Criteria, { draft, change }),
    gap !== undefined && h('p', { class: 'hint' }, gap),
    h(ErrorNotice, { error }),
  ]);
}

function readType(value: string): DraftType {
  return DRAFT_TYPES.find((type) => type === value) ?? 'choice';
}

interface CriteriaProps {
  readonly draft: QuestionDraft;
  readonly change: (changed: Partial<QuestionDraft>) => void;
}

function Criteria({ draft, change }: CriteriaProps): JSX.Element {
  if (draft.type === 'choice')
    return h(Options, { options: draft.options, onChange: (options) => change({ options }) });
  if (draft.type === 'score') return h(Levels, { levels: draft.levels, onChange: (levels) => change({ levels }) });
  return h('div', { class: 'question-sides' }, [
    h(TextInput, { label: 'Yes means (optional)', value: draft.yes, onChange: (yes) => change({ yes }) }),
    h(TextInput, { label: 'No means (optional)', value: draft.no, onChange: (no) => change({ no }) }),
  ]);
}

interface ListProps<Item> {
  readonly onChange: (items: readonly Item[]) => void;
}

function Options({
  options,
  onChange,
}: ListProps<OptionDraft> & { readonly options: readonly OptionDraft[] }): JSX.Element {
  const set = (index: number, option: OptionDraft): void => onChange(options.with(index, option));
  const rows = options.map((option, index) => [
    h('input', {
      'aria-label': `Option ${index + 1}`,
      placeholder: 'option',
      value: option.name,
      onInput: (event: TargetedEvent<HTMLInputElement>) => set(index, { ...option, name: event.currentTarget.value }),
    }),
    h('input', {
      'aria-label': `What option ${index + 1} means`,
      placeholder: 'what belongs to it',
      value: option.description,
      onInput: (event: TargetedEvent<HTMLInputElement>) =>
        set(index, { ...option, description: event.currentTarget.value }),
    }),
    h(RemoveButton, { label: `Remove option ${index + 1}`, onClick: () => onChange(options.toSpliced(index, 1)) }),
  ]);
  const add = (): void => onChange([...options, { name: '', description: '' }]);
  return h(RowList, { title: 'Options', rows, add: h(AddButton, { label: 'Add an option', onClick: add }) });
}

function Levels({ levels, onChange }: ListProps<string> & { readonly levels: readonly string[] }): JSX.Element {
  const rows = levels.map((level, index) => [
    h('span', { class: 'level-number' }, `${index}`),
    h('input', {
      'aria-label': `Level ${index}`,
      placeholder: index === 0 ? 'the lowest level: what one would see' : 'a higher level',
      value: level,
      onInput: (event: TargetedEvent<HTMLInputElement>) => onChange(levels.with(index, event.currentTarget.value)),
    }),
    h(RemoveButton, { label: `Remove level ${index}`, onClick: () => onChange(levels.toSpliced(index, 1)) }),
  ]);
  const add = h(AddButton, { label: 'Add a level', onClick: () => onChange([...levels, '']) });
  return h(RowList, { title: 'Levels, lowest first', rows, add });
}

interface RowListProps {
  readonly title: string;
  readonly rows: readonly ComponentChildren[];
  readonly add: JSX.Element;
}

function RowList({ title, rows, add }: RowListProps): JSX.Element {
  return h('div', { class: 'rows' }, [
    h('span', { class: 'field-label' }, title),
    rows.map((row, index) => h('div', { class: 'row', key: index }, row)),
    add,
  ]);
}

interface ButtonProps {
  readonly label: string;
  readonly onClick: () => void;
}

function AddButton({ label, onClick }: ButtonProps): JSX.Element {
  return h('button', { type: 'button', class: 'button button-small', onClick }, label);
}

function RemoveButton({ label, onClick }: ButtonProps): JSX.Element {
  return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onClick }, '×');
}

interface TextInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TextInput({ label, value, onChange }: TextInputProps): JSX.Element {
  return h('label', { class: 'field' }, [
    h('span', { class: 'field-label' }, label),
    h('input', { value, onInput: (event) => onChange(event.currentTarget.value) }),
  ]);
}
