// A worker that does what the real one does, but throws where nobody catches when asked for the model `die`.

import type { TaskOrder, TaskReply } from '../../../src/runtime/messages.ts';
import realWorker from '../../../src/runtime/worker.ts';

export default realWorker.then((handler) => (order: TaskOrder): Promise<TaskReply> => {
  const { task } = order;
  if (task.kind !== 'decide' || task.modelId !== 'die') return handler(order);
  setImmediate(() => {
    throw new Error('a fault in JavaScript');
  });
  return new Promise(() => undefined);
});
