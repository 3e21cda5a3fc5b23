// Asks until there is an answer: follows `Retry-After`, comes back after a broken connection, and tells what concerns one
// request from what concerns them all. A request that is asked again carries the same `Idempotency-Key`.

import type { Pace, PaceClock, PaceNews, PacePass } from './pace.ts';
import { describeLostReply } from './remote-server.ts';
import type { ReplyHeaders, ServerConnection, WireReply } from './server-connection.ts';
import { errorMessage, readWireError, type WireError } from './wire-error.ts';

export interface PatientRequest {
  readonly path: string;
  readonly body: string;
  readonly idempotencyKey: string;
}

/** Why one request is not answered, now or later. */
export interface RefusedRequest extends WireError {
  readonly status: number;
}

export type RequestEnding =
  | { readonly type: 'answered'; readonly reply: WireReply }
  | { readonly type: 'refused'; readonly refusal: RefusedRequest };

/** Stands for a status where there is no reply; the body says why. */
const LOST = 0;

/** Nothing more can be asked: the key is refused, the server is gone. */
export class AskingStopped extends Error {
  override readonly name = 'AskingStopped';
  /** Of the reply that said so; 0: there was none. */
  readonly status: number;

  constructor(message: string, status = LOST) {
    super(message);
    this.status = status;
  }
}

export interface PatientAskerOptions {
  readonly server: ServerConnection;
  readonly pace: Pace;
  readonly clock: PaceClock;
  /** Gives up what waits to be asked again; what is under way ends as it ends. */
  readonly signal: AbortSignal;
}

/** How long nothing at all may be answered. */
const PATIENCE_MS = 600_000;
/** Of one request whose failure may be its own. */
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Of the key, the model or the address: the next row would hear the same. */
const STOPS = new Set([401, 402, 403, 404, 405]);
const COMES_BACK = new Set([429, 503]);
/** A fault of the server, a request of a run before that is still under way. */
const TRIED_AGAIN = new Set([408, 409, 500, 502, 504]);
/** Fields that are the same in every request. */
const SHARED_FIELD = /^(model|questions|encoding_format|dimensions)\b/;

/** What comes of one try. */
type Trial =
  | RequestEnding
  /** Everybody waits. */
  | { readonly type: 'come-back'; readonly waitMs: number }
  /** This request alone waits. */
  | { readonly type: 'try-again'; readonly waitMs: number };

export class PatientAsker {
  readonly #options: PatientAskerOptions;
  #hasAnswered = false;
  #lastAnswerMs: number;

  constructor(options: PatientAskerOptions) {
    this.#options = options;
    this.#lastAnswerMs = options.clock.nowMs();
  }

  /**
   * @param pass of the pace, for the first try; later ones get their own
   * @throws AskingStopped, the signal's reason
   */
  async ask(request: PatientRequest, pass: PacePass): Promise<RequestEnding> {
    const { pace, clock, signal } = this.#options;
    for (let [tries, mine] = [1, pass]; ; tries++, mine = await pace.enter(signal)) {
      const trial = await this.#try(request, mine, tries);
      if (trial.type === 'answered' || trial.type === 'refused') return trial;
      if (trial.type === 'try-again') await clock.pause(trial.waitMs, signal);
    }
  }

  async #try({ path, body, idempotencyKey }: PatientRequest, pass: PacePass, tries: number): Promise<Trial> {
    const { server, pace } = this.#options;
    let news: PaceNews = { type: 'other' };
    try {
      const reply = await server.post(path, body, { 'idempotency-key': idempotencyKey }).catch(lost);
      const trial = this.#judge(reply, tries);
      if (trial.type === 'answered') news = { type: 'answered', queueShare: findQueueShare(trial.reply.headers) };
      if (trial.type === 'come-back') news = { type: 'refused', waitMs: trial.waitMs };
      return trial;
    } finally {
      pace.leave(pass, news);
    }
  }

  #judge(reply: WireReply, tries: number): Trial {
    const { status } = reply;
    if (status === LOST) {
      if (!this.#hasAnswered) throw new AskingStopped(reply.body);
      return this.#comeBack(reply.body, pauseBefore(tries));
    }
    if (status === 200) {
      this.#hasAnswered = true;
      this.#lastAnswerMs = this.#options.clock.nowMs();
      return { type: 'answered', reply };
    }
    const error = readWireError(reply.body);
    const told = errorMessage(reply.body) || `The server answers with status ${status}.`;
    if (STOPS.has(status) || status < 400 || isShared(status, error)) throw new AskingStopped(told, status);
    if (COMES_BACK.has(status)) return this.#comeBack(told, findRetryAfterMs(reply.headers) ?? pauseBefore(tries));
    if (TRIED_AGAIN.has(status) && tries < MOST_TRIES) return { type: 'try-again', waitMs: pauseBefore(tries) };
    return { type: 'refused', refusal: { status, ...error } };
  }

  /** @throws AskingStopped when that has been so for too long, or would be */
  #comeBack(told: string, waitMs: number): Trial {
    const silentMs = this.#options.clock.nowMs() - this.#lastAnswerMs;
    if (Math.max(silentMs, waitMs) > PATIENCE_MS) throw new AskingStopped(told);
    return { type: 'come-back', waitMs };
  }
}

function lost(error: unknown): WireReply {
  return { status: LOST, body: `No answer from the server: ${describeLostReply(error)}.`, headers: {} };
}

function isShared(status: number, { code, param }: WireError): boolean {
  return status === 400 && (SHARED_FIELD.test(param) || code === 'model_type_mismatch');
}

/** @param tries so far */
function pauseBefore(tries: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
}

/** What the server asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function findRetryAfterMs(headers: ReplyHeaders, nowMs = Date.now()): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** Of `Server-Timing`: the part of its time that a request waited, 0 to 1. */
export function findQueueShare(headers: ReplyHeaders): number | undefined {
  const timing = headers['server-timing'] ?? '';
  const [queueMs, inferMs] = ['queue', 'infer'].map((part) => {
    return Number(new RegExp(`\\b${part};dur=([\\d.]+)`).exec(timing)?.[1]);
  });
  if (queueMs === undefined || inferMs === undefined || !(queueMs + inferMs > 0)) return undefined;
  return queueMs / (queueMs + inferMs);
}
