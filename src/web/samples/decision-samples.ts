// A decision as code: with curl, and with the official clients of the decision format.

import { type QuestionDraft, writeDrafts, writtenOptions } from '../playground/question-draft.ts';
import { type CodeSample, curlHead, postByCurl, quoteForShell, writeMembers } from './code-sample.ts';

export interface SampledDecision {
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  readonly modelId: string;
  readonly document: string;
  readonly drafts: readonly QuestionDraft[];
}

/** A longer one is read from a file, as a program would. */
const SHOWN_CHARACTERS = 4000;
const FILE = 'document.txt';

export function decisionSamples(decision: SampledDecision): CodeSample[] {
  return [
    { language: 'curl', text: byCurl(decision) },
    { language: 'TypeScript', text: byTypeScript(decision) },
    { language: 'Python', text: byPython(decision) },
  ];
}

function byCurl({ origin, modelId, document, drafts }: SampledDecision): string {
  const url = `${origin}/ai/v1/systemone`;
  const questions = writeDrafts(drafts).replaceAll('\n', '\n  ');
  const model = JSON.stringify(modelId);
  if (document.length <= SHOWN_CHARACTERS) {
    return postByCurl(
      url,
      `{\n  "model": ${model},\n  "state": ${JSON.stringify(document)},\n  "questions": ${questions}\n}`,
    );
  }
  const filter = quoteForShell(`{model: ${model}, state: $state, questions: ${questions}}`);
  return `# The document is in ${FILE}.\njq -n --rawfile state ${FILE} ${filter} |\n${curlHead(url)} --data-binary @-`;
}

function byTypeScript({ origin, modelId, document, drafts }: SampledDecision): string {
  const isShown = document.length <= SHOWN_CHARACTERS;
  const types = ['choice', 'noul', 'score'].filter((type) => drafts.some((draft) => draft.type === type));
  const questions = drafts.map(
    ({ name, ...draft }) => `${nameInScript(name)}: ${questionInScript({ name, ...draft })}`,
  );
  return `// npm install @typesafe-ai/sdk
${isShown ? '' : "import { readFileSync } from 'node:fs';\n"}import { ${[...types, 'TypeSafeClient'].join(', ')} } from '@typesafe-ai/sdk';

const client = new TypeSafeClient({
  baseURL: '${origin}/ai',
  apiKey: process.env.UMPIRE_API_KEY,
  defaultModel: ${JSON.stringify(modelId)},
});
const { answers, usage } = await client.systemOne({
  state: ${isShown ? JSON.stringify(document) : `readFileSync('${FILE}', 'utf8')`},
  questions: {
${writeMembers(questions, '    ')}  },
});
console.log(answers, usage);`;
}

function questionInScript({ type, instructions, options, levels, yes, no }: QuestionDraft): string {
  const asked = JSON.stringify(instructions);
  if (type === 'score') return `score(${asked}, [\n${writeMembers(quoteAll(levels.filter(Boolean)), '      ')}    ])`;
  if (type === 'choice') {
    const entries = writtenOptions(options).map(
      ({ name, description }) => `${nameInScript(name)}: ${description === '' ? 'null' : JSON.stringify(description)}`,
    );
    return `choice(${asked}, {\n${writeMembers(entries, '      ')}    })`;
  }
  const sides = [...(yes ? [`true: ${JSON.stringify(yes)}`] : []), ...(no ? [`false: ${JSON.stringify(no)}`] : [])];
  return sides.length === 0 ? `noul(${asked})` : `noul(${asked}, { ${sides.join(', ')} })`;
}

function quoteAll(texts: readonly string[]): string[] {
  return texts.map((text) => JSON.stringify(text));
}

/** Written plainly, this one name would be no member of an object. */
function nameInScript(name: string): string {
  if (name === '__proto__') return '["__proto__"]';
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function byPython({ origin, modelId, document, drafts }: SampledDecision): string {
  const isShown = document.length <= SHOWN_CHARACTERS;
  const classes = [
    ['choice', 'Choice'],
    ['noul', 'Noul'],
    ['score', 'Score'],
  ].flatMap(([type, name = '']) => (drafts.some((draft) => draft.type === type) ? [name] : []));
  const questions = drafts.map((draft) => `${JSON.stringify(draft.name)}: ${questionInPython(draft)}`);
  return `# pip install typesafe-sdk
import os
${isShown ? '' : 'from pathlib import Path\n'}
from typesafe_sdk import ${[...classes, 'TypeSafeClient'].join(', ')}

with TypeSafeClient(base_url="${origin}/ai", api_key=os.environ["UMPIRE_API_KEY"]) as client:
    response = client.system_one(
        model=${JSON.stringify(modelId)},
        state=${isShown ? JSON.stringify(document) : `Path("${FILE}").read_text(encoding="utf-8")`},
        questions={
${writeMembers(questions, '            ')}        },
    )
print(response.answers, response.usage)`;
}

function questionInPython({ type, instructions, options, levels, yes, no }: QuestionDraft): string {
  const asked = `instructions=${JSON.stringify(instructions)}`;
  if (type === 'score') return `Score(${asked}, criteria=[${quoteAll(levels.filter(Boolean)).join(', ')}])`;
  if (type === 'choice') {
    const entries = writtenOptions(options).map(
      ({ name, description }) =>
        `${JSON.stringify(name)}: ${description === '' ? 'None' : JSON.stringify(description)}`,
    );
    return `Choice(${asked}, criteria={\n${writeMembers(entries, '                ')}            })`;
  }
  const sides = [...(yes ? [`"true": ${JSON.stringify(yes)}`] : []), ...(no ? [`"false": ${JSON.stringify(no)}`] : [])];
  return sides.length === 0 ? `Noul(${asked})` : `Noul(${asked}, criteria={${sides.join(', ')}})`;
}
