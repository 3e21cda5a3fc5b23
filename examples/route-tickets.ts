// Sends support messages to teams: sure answers go straight to the team, the others to a person with the model's guess.
// Run: npx node examples/route-tickets.ts   (UMPIRE_URL, UMPIRE_API_KEY)

import { readFileSync } from 'node:fs';
import { choice, TypeSafeClient } from '@typesafe-ai/sdk';

/** Chosen with `umpire eval`: at most 5 % of the answers above it are wrong on the labelled rows. */
const THRESHOLD = 0.72;
const DATA = new URL('data/', import.meta.url);

const client = new TypeSafeClient({
  baseURL: `${process.env['UMPIRE_URL'] ?? 'http://127.0.0.1:8080'}/ai`,
  apiKey: process.env['UMPIRE_API_KEY'] ?? '',
  defaultModel: 'kev',
});
const { team } = JSON.parse(readFileSync(new URL('questions-described.json', DATA), 'utf8'));
const tickets: { state: string }[] = readFileSync(new URL('tickets.jsonl', DATA), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

let sent = 0;
for (const { state } of tickets.slice(0, 12)) {
  const { answers } = await client.systemOne({ state, questions: { team: choice(team.instructions, team.criteria) } });
  const { choice: name, probabilities } = answers.team;
  const probability = probabilities[name] ?? 0;
  const isSure = probability >= THRESHOLD;
  if (isSure) sent += 1;
  console.log(`${isSure ? 'send to' : 'ask    '}  ${name.padEnd(10)} ${probability.toFixed(2)}  ${state.slice(0, 60)}`);
}
console.log(`${sent} of 12 sent without a look`);
