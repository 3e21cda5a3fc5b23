// Makes this process the one that gives way: to every other for the processors, and the first that the kernel ends where
// memory runs out.

import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const FIRST_TO_DIE = '1000';

/** Threads that are made later are as this one is. */
export function giveWay(): void {
  for (const thread of listThreads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW);
    } catch {
      // A thread that has just ended.
    }
  }
  try {
    writeFileSync('/proc/self/oom_score_adj', FIRST_TO_DIE);
  } catch {
    // Other systems choose by themselves.
  }
}

/** Linux has a priority for each thread, others one for the process: 0 is ours. */
function listThreads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}
