// The headings under which `umpire --help` and docs/cli.md list commands, in their order.

export const COMMAND_GROUPS = {
  server: 'Run a server',
  ask: 'Ask a model',
  models: 'Look at models and measure them',
  keys: 'API keys',
  money: 'Prices, usage and the audit trail',
  store: 'The store as a whole',
  shell: 'In your shell',
} as const;

export type CommandGroup = keyof typeof COMMAND_GROUPS;
