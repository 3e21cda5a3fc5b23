// Records of the audit trail on the wire.

import { z } from 'zod';
import type { StoredAuditRecord } from '../../domain/audit.ts';
import { toInstant } from '../../domain/instant.ts';
import { instantReply } from './instant.ts';
import { limitParameter, listOf, numberCursor } from './paging.ts';
import { strictFields } from './strict-fields.ts';

const auditRecordSchema = z
  .object({
    object: z.literal('audit_record').describe('What this is.'),
    id: z.int().min(0).describe('Its number; later ones are higher.'),
    at: instantReply.describe('When it was done.'),
    actor: z.string().describe('Id of a key, `command line`, or `server`.'),
    action: z
      .string()
      .describe(
        '`key.create`, `key.update`, `key.rotate`, `key.revoke`, `price.set`, `model.learn`, `configuration.reload`, …',
      ),
    target: z.string().describe('Id of what it was done to.'),
    details: z.record(z.string(), z.unknown()).describe('What changed.'),
  })
  .meta({ id: 'AuditRecord', description: 'What an administrator did.' });

export const auditListSchema = listOf(auditRecordSchema, {
  id: 'AuditRecordList',
  description: 'What administrators did, newest first.',
});

export const auditQuery = strictFields('query', { limit: limitParameter, cursor: numberCursor });

export function toWireAudit(record: StoredAuditRecord): z.output<typeof auditRecordSchema> {
  const { id, atMs, actor, action, target, details } = record;
  return { object: 'audit_record', id, at: toInstant(atMs), actor, action, target, details: { ...details } };
}
