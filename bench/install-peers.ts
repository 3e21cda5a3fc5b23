// Makes the Python environments of the peers, each from its pinned requirements.
// node bench/install-peers.ts [--environments DIR] [--python FILE]

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_ENVIRONMENTS } from './servers/python-program.ts';
import { installAll } from './servers/python-servers.ts';

const { values } = parseArgs({
  options: {
    environments: { type: 'string', default: DEFAULT_ENVIRONMENTS },
    python: { type: 'string', default: 'python3' },
  },
});
installAll(resolve(values.environments), values.python);
