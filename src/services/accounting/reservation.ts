// What the store is asked to hold for a request, before it runs. Pure but for the random part of an id.

import { randomUUID } from 'node:crypto';
import { ENDPOINT_OF_TYPE } from '../../domain/model-card.ts';
import { costPicoUsd } from '../../domain/money.ts';
import type { Reservation } from '../../storage/stores.ts';
import type { NewBooking } from './accounting.ts';

export interface ReservationTerms {
  readonly instanceId: string;
  /** For how long an idempotency key is held. */
  readonly windowMs: number;
  readonly nowMs: number;
}

export function reservationOf(wanted: NewBooking, { instanceId, windowMs, nowMs }: ReservationTerms): Reservation {
  const { caller, model, isStreamed, expected } = wanted;
  const { key, requestId, idempotency } = caller;
  return {
    id: timeOrderedId(nowMs),
    requestId,
    keyId: key.id,
    modelId: model.id,
    endpoint: ENDPOINT_OF_TYPE[model.type],
    isStreamed,
    acceptedAtMs: nowMs,
    price: model.price,
    instanceId,
    demand: {
      costPicoUsd: costPicoUsd(expected, model.price),
      tokens: expected.inputTokens + expected.outputTokens,
      budget: key.budget,
      limits: key.limits,
    },
    idempotency: idempotency === undefined ? null : { ...idempotency, expiresAtMs: nowMs + windowMs },
  };
}

/** A UUID of version 7: rows that come together lie together, so that indexes grow at their end. */
function timeOrderedId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
