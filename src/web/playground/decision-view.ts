// The tab of decisions: what is read and asked at the left, what comes of it at the right.

import { h, type JSX } from 'preact';
import { CodeSamples } from '../components/code-samples.ts';
import { decisionSamples } from '../samples/decision-samples.ts';
import { AnswersPanel } from './answers-panel.ts';
import { documentText, drafts, fillIn, modelId } from './decision-form.ts';
import { DocumentField } from './document-field.ts';
import { EXAMPLES } from './examples.ts';
import { QuestionsPanel } from './questions-panel.ts';

export function DecisionView(): JSX.Element {
  return h('div', { class: 'workbench' }, [
    h('div', { class: 'column' }, [h(ExampleRow, {}), h(DocumentField, {}), h(QuestionsPanel, {})]),
    h('div', { class: 'column column-results' }, [h(AnswersPanel, {}), h(CodePanel, {})]),
  ]);
}

function ExampleRow(): JSX.Element {
  const buttons = EXAMPLES.map((example) => {
    const isShown = documentText.value.startsWith(example.document);
    return h(
      'button',
      { type: 'button', class: 'chip', 'aria-pressed': isShown, onClick: () => fillIn(example) },
      example.label,
    );
  });
  return h('div', { class: 'chips', role: 'group', 'aria-label': 'Examples' }, buttons);
}

function CodePanel(): JSX.Element {
  const samples = decisionSamples({
    origin: location.origin,
    modelId: modelId.value,
    document: documentText.value,
    drafts: drafts.value,
  });
  return h('section', { class: 'panel', 'aria-labelledby': 'code-title' }, [
    h('h2', { id: 'code-title' }, 'This request as code'),
    h(CodeSamples, { samples }),
  ]);
}
