// Hostile texts over SQLite.

import { describeHostile } from './admin-hostile.suite.ts';
import { AdminServer } from './admin-server.ts';

describeHostile('SQLite', () => AdminServer.start());
