// Many clients at once, each sending its next order when it has its answer, until their server is gone or they are told
// to stop. Keeps what a client can know: what it sent, what it was answered, and what was cut off.

import { EventEmitter, once } from 'node:events';
import { RandomSource } from '../models/random-source.ts';
import { type Answer, exchange, type Kind, NobodyListensError, type Order } from './exchange.ts';
import type { IssuedKey } from './issue-key.ts';

export interface CrowdOptions {
  readonly clients: number;
  readonly keys: readonly IssuedKey[];
  readonly seed: number;
  /** Of the orders: their clients leave before the reply is there. */
  readonly leavingShare: number;
}

const KINDS: readonly Kind[] = ['decision', 'decision', 'decision', 'embedding', 'ranking', 'chat', 'stream'];
const IDEMPOTENT_SHARE = 0.3;
/** Of those, how many are sent again though they were answered. */
const REPEATED_SHARE = 0.3;
const MAX_WORDS = 12;

export class ClientCrowd {
  readonly answers: Answer[] = [];
  /** Sent, and not answered in full: cut off, or left alone by the client. */
  readonly cut: Order[] = [];
  readonly #options: CrowdOptions;
  readonly #random: RandomSource;
  readonly #news = new EventEmitter();
  #sent = 0;
  #isStopped = false;

  constructor(options: CrowdOptions) {
    this.#options = options;
    this.#news.setMaxListeners(0);
    this.#random = new RandomSource(options.seed);
  }

  /** Resolves when every client has stopped. */
  async run(address: string): Promise<void> {
    this.#isStopped = false;
    await Promise.all(Array.from({ length: this.#options.clients }, () => this.#runClient(address)));
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves as soon as it holds; looked at whenever an answer came. @param since answers before are left out */
  async until(condition: (answers: readonly Answer[]) => boolean, since = this.answers.length): Promise<void> {
    while (!condition(this.answers.slice(since))) await once(this.#news, 'answer');
  }

  /** The same order under another request id, as SDKs retry. */
  retry(address: string, order: Order): Promise<Answer | undefined> {
    return this.#send(address, { ...order, requestId: this.#nextId() });
  }

  async #runClient(address: string): Promise<void> {
    try {
      while (!this.#isStopped) await this.#placeOrder(address);
    } catch (error) {
      if (!(error instanceof NobodyListensError)) throw error;
    }
  }

  async #placeOrder(address: string): Promise<void> {
    const order = this.#makeOrder();
    const isLeaving = this.#random.chance(this.#options.leavingShare);
    const answer = await this.#send(address, order, isLeaving ? this.#leaveSoon() : undefined);
    if (order.idempotencyKey === undefined) return;
    // Whoever left comes back for it, as SDKs do that give up waiting; some come again though they were answered.
    const isRepeated = isLeaving || (answer !== undefined && this.#random.chance(REPEATED_SHARE));
    if (isRepeated) await this.retry(address, order);
  }

  /** Aborted when some others have been answered: in the middle of work, whatever the machine's speed. */
  #leaveSoon(): AbortSignal {
    const controller = new AbortController();
    let left = this.#random.whole(1, this.#options.clients);
    const onAnswer = (): void => {
      left -= 1;
      if (left > 0) return;
      this.#news.off('answer', onAnswer);
      controller.abort();
    };
    this.#news.on('answer', onAnswer);
    return controller.signal;
  }

  async #send(address: string, order: Order, leave?: AbortSignal): Promise<Answer | undefined> {
    const answer = await exchange(address, order, leave);
    if (answer === undefined) this.cut.push(order);
    else this.answers.push(answer);
    this.#news.emit('answer');
    return answer;
  }

  #makeOrder(): Order {
    const random = this.#random;
    const requestId = this.#nextId();
    const { id, secret } = random.pick(this.#options.keys);
    const idempotencyKey = random.chance(IDEMPOTENT_SHARE) ? { idempotencyKey: `order-${requestId}` } : {};
    const words = random.whole(1, MAX_WORDS);
    return { requestId, kind: random.pick(KINDS), words, keyId: id, secret, ...idempotencyKey };
  }

  #nextId(): string {
    return `client-${this.#options.seed}-${this.#sent++}`;
  }
}
