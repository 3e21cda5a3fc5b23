// Which of several models answers.

import type { Signal } from '@preact/signals';
import { h, type JSX, type TargetedEvent } from 'preact';
import type { UsableModel } from '../api/model-list.ts';
import { findModel, models } from './session.ts';

export interface ModelFieldProps {
  readonly type: UsableModel['type'];
  /** undefined: the first of its type. */
  readonly chosen: Signal<string | undefined>;
}

/** @returns null where there is nothing to choose */
export function ModelField({ type, chosen }: ModelFieldProps): JSX.Element | null {
  const fitting = (models.value ?? []).filter((model) => model.type === type);
  if (fitting.length < 2) return null;
  const choose = (event: TargetedEvent<HTMLSelectElement>): void => {
    chosen.value = event.currentTarget.value;
  };
  return h('label', { class: 'field model-field' }, [
    h('span', { class: 'field-label' }, 'Model'),
    h(
      'select',
      { value: findModel(type, chosen.value)?.id, onChange: choose },
      fitting.map(({ id }) => h('option', { value: id, key: id }, id)),
    ),
  ]);
}
