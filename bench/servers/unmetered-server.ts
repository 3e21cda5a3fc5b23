// The server with everything of money and keys off: whoever calls is let in, nothing is written. The other side of what
// accounting costs. Started by the bench with the server's own environment; ends on SIGTERM.

import { buildApp, cacheFolderOf } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { letEverybodyIn } from './let-everybody-in.ts';

const loaded = loadConfig({ flags: {} });
const { config } = loaded;
const app = await buildApp(loaded, {
  version: 'bench',
  logger: createLogger({ level: config.log.level, format: 'json' }),
  authenticator: letEverybodyIn,
  cacheFolder: cacheFolderOf(config),
});
await app.http.listen({ host: config.host, port: config.port });
process.once('SIGTERM', async () => {
  await app.stop();
  process.exit(0);
});
