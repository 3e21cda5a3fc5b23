// What metrics are told of an engine that has nothing to do.

export const idleGauges = () => ({
  state: 'ready',
  queuedJobs: 0,
  queuedCostMs: 0,
  busyWorkers: 0,
  workers: 2,
  stateCache: { stateTokens: 0, keptTokens: 0 },
  models: [],
  memory: { takenBytes: 0 },
});
