// A worker that does what the real one does, but throws where nobody catches when asked for the model `die`.

import type { Task, TaskReply } from '../../../src/runtime/messages.ts';
import realWorker from '../../../src/runtime/worker.ts';

export default realWorker.then((handler) => (task: Task): Promise<TaskReply> => {
  if (task.kind !== 'decide' || task.modelId !== 'die') return handler(task);
  setImmediate(() => {
    throw new Error('a fault in JavaScript');
  });
  return new Promise(() => undefined);
});
