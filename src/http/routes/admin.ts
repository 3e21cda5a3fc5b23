// Everything under /admin/v1, behind the scope `admin`.

import type { FastifyInstance } from 'fastify';
import type { Administration } from '../../services/administration.ts';
import type { Catalog } from '../../services/catalog.ts';
import type { LearningService } from '../../services/learning/learning.ts';
import type { ReloadService } from '../../services/reload.ts';
import { parseAdminBodies } from '../admin-body.ts';
import type { BodyIntake } from '../body-intake.ts';
import type { BodyLimitsByRoute } from '../body-limits.ts';
import { adminAuditRoute } from './admin-audit.ts';
import { adminKeyRoutes } from './admin-keys.ts';
import { adminModelRoutes } from './admin-models.ts';
import { adminPriceRoutes } from './admin-prices.ts';
import { adminReloadRoute } from './admin-reload.ts';
import { type AdminStatusDeps, adminStatusRoute } from './admin-status.ts';
import { adminUsageRoutes } from './admin-usage.ts';

export interface AdminDeps extends Administration, AdminStatusDeps {
  readonly catalog: Catalog;
  readonly intake: BodyIntake;
  readonly bodyLimits: Pick<BodyLimitsByRoute, 'administration' | 'learning'>;
  readonly learning: LearningService | undefined;
  readonly reloads: ReloadService | undefined;
}

export async function adminRoutes(api: FastifyInstance, deps: AdminDeps): Promise<void> {
  parseAdminBodies(api, deps.intake, deps.bodyLimits.administration);
  // A reply may hold a secret or an account; neither is for a cache on the way.
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  await api.register(adminKeyRoutes, deps);
  await api.register(adminPriceRoutes, deps);
  await api.register(adminUsageRoutes, deps);
  await api.register(adminAuditRoute, deps);
  await api.register(adminStatusRoute, deps);
  if (deps.reloads !== undefined) await adminReloadRoute(api, deps.reloads);
  const { learning, catalog, intake, bodyLimits } = deps;
  if (learning === undefined) return;
  await api.register(adminModelRoutes, { learning, catalog, intake, bodyLimits: bodyLimits.learning });
}
