// The process of a probe: opens somebody else's graph, runs it, and tells what came of it. It may be killed or crash; who
// started it goes on. Loaded in a process of its own alone.

import { writeFileSync } from 'node:fs';
import { messageOf } from '../../domain/errors.ts';
import { readSignature } from '../session.ts';
import { describeGraphFault } from './graph-faults.ts';
import type { ProbeOrder, ProbeReport } from './probe-messages.ts';
import { answerProbe, measureLengths, startFolder } from './probe-runs.ts';

/** Where memory runs out, the kernel should take this process and no other. */
const FIRST_TO_DIE = '1000';

process.once('message', (order: ProbeOrder) => {
  void report(order).finally(() => process.disconnect());
});

async function report(order: ProbeOrder): Promise<void> {
  try {
    offerToDie();
    await carryOut(order);
    await send({ kind: 'done' });
  } catch (error) {
    await send({ kind: 'failed', message: describeGraphFault(messageOf(error)) });
  }
}

async function carryOut(order: ProbeOrder): Promise<void> {
  switch (order.kind) {
    case 'signature':
      return send({ kind: 'signature', signature: await readSignature(order.path) });
    case 'answers':
      return send({ kind: 'answers', answers: await answerProbe(order.folder, order.precision) });
    case 'lengths':
      return measureLengths(order, send);
    case 'start':
      return startFolder(order.folder);
  }
}

function send(report: ProbeReport): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, undefined, {}, (error) => (error === null ? resolve() : reject(error)));
  });
}

function offerToDie(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', FIRST_TO_DIE);
  } catch {
    // Other systems choose by themselves.
  }
}
