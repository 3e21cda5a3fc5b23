// What a model is asked before its folder is made: texts of several lengths and scripts, and what a foreign export most
// often gets wrong. The first ones of each list become the golden cases of the folder.

import type { Question } from '../../domain/question.ts';
import type { DecisionTexts } from '../families/split-encoder/decision-tokens.ts';

export interface ProbeRanking {
  readonly query: string;
  readonly documents: readonly string[];
}

/** How many of a list are kept. */
export const GOLDEN_TEXTS = 8;
export const GOLDEN_DECISIONS = 4;
export const GOLDEN_RANKINGS = 4;

const REPEATED = 'The committee met on Tuesday and heard three reports about the water supply of the northern valley. ';

export const PROBE_TEXTS: readonly string[] = [
  'I was charged twice this month.',
  'Wie lange dauert die Lieferung nach Österreich?',
  '東京から京都まで新幹線でどのくらいかかりますか。',
  'كيف يمكنني تغيير كلمة المرور الخاصة بي؟',
  'Rain',
  'Der Vertrag endet am 31.12.2027; eine Kündigung muss drei Monate vorher schriftlich eingehen.',
  'SELECT name, SUM(amount) FROM orders WHERE created_at >= ? GROUP BY name;',
  'Thank you so much, that solved it! 🎉',
  'The patient reports a dry cough, mild fever and fatigue for the past three days.',
  'A cat sat on the mat while the dog slept.',
  'Прогноз погоды на завтра: дождь и сильный ветер.',
  'नमस्ते, आपका ऑर्डर कल तक पहुँच जाएगा।',
  '1.5 mg/kg every 8 h, max. 3 doses in 24 h',
  'ERROR 2026-03-01T12:00:03Z db.pool timeout after 5000 ms (host=10.0.0.7)',
  'The stock fell 4.2% after the company cut its outlook for the second time this year.',
  'La réunion est reportée à jeudi prochain, même heure, même salle.',
  'Photosynthesis converts light, water and carbon dioxide into sugar and oxygen.',
  '고객 센터에 전화했지만 아무도 받지 않았습니다.',
  'Can you recommend a quiet hotel near the station?',
  'El reembolso se ha procesado y aparecerá en su cuenta en cinco días.',
  'if (queue.length > limit) throw new Error("too many jobs");',
  'Stir the onions until golden, add the rice and toast it for a minute before the stock goes in.',
  'ไม่สามารถเข้าสู่ระบบได้ตั้งแต่เมื่อวาน',
  'Kupiłem ten produkt w zeszłym tygodniu i już nie działa.',
  'The warranty does not cover damage caused by water, misuse or unauthorised repair.',
  'Şifremi unuttum, nasıl sıfırlayabilirim?',
  'In 1969 two people walked on the moon while a third stayed in orbit.',
  `${REPEATED}It decided nothing.`,
  REPEATED.repeat(4).trimEnd(),
  REPEATED.repeat(10).trimEnd(),
];

const TEAM: Question = {
  type: 'choice',
  instructions: 'Which team should answer this message?',
  options: [
    { name: 'billing', description: 'payments and refunds' },
    { name: 'technical', description: 'errors and outages' },
    { name: 'sales', description: null },
  ],
};
const URGENT: Question = {
  type: 'noul',
  instructions: 'The message is urgent.',
  whenFalse: null,
  whenTrue: null,
};
const MOOD: Question = {
  type: 'score',
  instructions: 'How satisfied is the writer?',
  levels: ['very unhappy', 'neutral', 'very happy'],
};

export const PROBE_DECISIONS: readonly DecisionTexts[] = [
  { state: 'I was charged twice this month and nobody answers.', questions: [TEAM, URGENT, MOOD] },
  { state: 'Thank you so much, that solved it! 🎉', questions: [TEAM, URGENT, MOOD] },
  { state: 'The page is blank since this morning.', questions: [TEAM, URGENT] },
  { state: 'Was kostet eine Lizenz für zehn Personen?', questions: [TEAM, MOOD] },
  { state: 'Rain', questions: [TEAM, URGENT] },
  { state: '支払いが二回引き落とされました。至急ご確認ください。', questions: [TEAM, URGENT] },
  { state: 'ERROR 2026-03-01T12:00:03Z db.pool timeout after 5000 ms', questions: [TEAM, URGENT] },
  { state: 'El reembolso se ha procesado y aparecerá en su cuenta.', questions: [TEAM, MOOD] },
  { state: 'Прогноз погоды на завтра: дождь и сильный ветер.', questions: [TEAM, URGENT] },
  { state: REPEATED.repeat(2).trimEnd(), questions: [TEAM, MOOD] },
  { state: 'The warranty does not cover damage caused by water.', questions: [TEAM, URGENT] },
  { state: 'Can you recommend a quiet hotel near the station?', questions: [TEAM, MOOD] },
];

const DOCUMENTS = [
  'Refunds are paid within five working days to the card that was charged.',
  'Photosynthesis converts light, water and carbon dioxide into sugar and oxygen.',
  'Reset your password under Settings, Security.',
];

export const PROBE_RANKINGS: readonly ProbeRanking[] = [
  { query: 'When do I get my money back?', documents: DOCUMENTS },
  { query: 'Wie setze ich mein Passwort zurück?', documents: DOCUMENTS },
  { query: 'how do plants make sugar', documents: DOCUMENTS },
  { query: 'rain', documents: ['Umbrellas are in the hall.', 'The museum is closed on Mondays.'] },
  { query: '東京の天気', documents: ['明日の東京は雨です。', '京都には多くの寺があります。', ...DOCUMENTS] },
  { query: 'كلمة المرور', documents: ['كيف يمكنني تغيير كلمة المرور؟', ...DOCUMENTS] },
  { query: 'database timeout', documents: ['ERROR db.pool timeout after 5000 ms', 'Stir the onions until golden.'] },
  { query: 'water supply of the valley', documents: [REPEATED, REPEATED.repeat(5).trimEnd(), ...DOCUMENTS] },
  { query: 'x', documents: ['x', 'y', 'The same letter twice: x x'] },
  { query: 'notice period of the contract', documents: ['Three months before its end, in writing.', ...DOCUMENTS] },
];
