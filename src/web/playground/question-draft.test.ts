import { describe, expect, it } from 'vitest';
import { findGap, newDraft, readDrafts, writeDrafts } from './question-draft.ts';

const TEXT = `{
  "10": {
    "type": "choice",
    "instructions": "Which?",
    "criteria": {
      "2": null,
      "1": "one",
      "__proto__": "a name as any other"
    }
  },
  "sure": {
    "type": "noul",
    "instructions": "Sure?",
    "criteria": {
      "true": "certainly"
    }
  },
  "much": {
    "type": "score",
    "instructions": "How much?",
    "criteria": [
      "little",
      "a lot"
    ]
  }
}`;

describe('questions', () => {
  it('are the same JSON after they were a form, with every name in its place', () => {
    expect(writeDrafts(readDrafts(TEXT))).toBe(TEXT);
  });

  it('leave out rows of the form that nobody has filled in', () => {
    const options = [
      { name: 'red', description: '' },
      { name: '', description: '' },
    ];
    expect(JSON.parse(writeDrafts([newDraft({ name: 'colour', instructions: 'Which?', options })]))).toEqual({
      colour: { type: 'choice', instructions: 'Which?', criteria: { red: null } },
    });
  });

  it.each([
    ['[]', 'Questions are an object'],
    ['{"a": 1}', 'The question "a" must be an object'],
    ['{"a": {"type": "guess"}}', 'needs a type'],
    ['{"a": {"type": "choice", "instructions": 1}}', 'needs instructions'],
    ['{"a": {"type": "choice", "instructions": "?", "criteria": ["x"]}}', 'criteria that are none of a choice'],
    ['{"a": {"type": "choice", "instructions": "?", "criteria": {"x": 1}}}', 'criteria that are none of a choice'],
    ['{"a": {"type": "score", "instructions": "?", "criteria": {"x": "y"}}}', 'criteria that are none of a score'],
    ['{"a": {"type": "noul", "instructions": "?", "criteria": {"maybe": "y"}}}', 'criteria that are none of a noul'],
    ['{"a": {"type": "noul", "instructions": "?"}, "a": {"type": "noul", "instructions": "?"}}', 'twice'],
  ])('that cannot be read are told why: %s', (text, reason) => {
    expect(() => readDrafts(text)).toThrow(reason);
  });
});

describe('a question', () => {
  const asked = { name: 'a', instructions: 'Which?' };
  const option = (name: string) => ({ name, description: '' });

  it.each([
    ['no words', newDraft({ name: 'a' }), 'Write what is asked.'],
    ['no option', newDraft(asked), 'Add at least one option.'],
    ['an option twice', newDraft({ ...asked, options: [option('x'), option('x')] }), 'Two options have the same name.'],
    ['one level', newDraft({ ...asked, type: 'score', levels: ['low', ''] }), 'Describe at least two levels.'],
  ])('with %s cannot be asked yet', (_what, draft, gap) => {
    expect(findGap(draft, [draft])).toBe(gap);
  });

  it('with the name of another cannot be asked yet', () => {
    const [one, other] = [newDraft({ ...asked, type: 'noul' }), newDraft({ ...asked, type: 'noul' })];
    expect(findGap(one, [one, other])).toBe('Another question has this name.');
    expect(findGap(one, [one])).toBeUndefined();
  });
});
