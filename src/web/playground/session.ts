// Who looks: the key, and the models that it may use. They are asked for as soon as there is a key.

import { effect, signal } from '@preact/signals-core';
import { openKeyHolder } from '../api/key-store.ts';
import { fetchModels, type UsableModel } from '../api/model-list.ts';

export const keys = openKeyHolder('playground');
/** undefined: the server has not said yet. */
export const models = signal<readonly UsableModel[] | undefined>();
/** Why there is no list of models although there is a key. */
export const modelsError = signal<unknown>();
export const isAskingForKey = signal(false);

/** undefined: the key may use none of this type, or nobody knows yet. */
export function findModel(type: UsableModel['type'], wanted?: string): UsableModel | undefined {
  const fitting = (models.value ?? []).filter((model) => model.type === type);
  return fitting.find(({ id }) => id === wanted) ?? fitting[0];
}

async function loadModels(key: string): Promise<void> {
  try {
    const listed = await fetchModels(key);
    if (keys.key.value === key) models.value = listed;
  } catch (error) {
    if (keys.key.value === key) modelsError.value = error;
  }
}

effect(() => {
  const key = keys.key.value;
  models.value = undefined;
  modelsError.value = undefined;
  if (key !== undefined) void loadModels(key);
});
