// How long work will take, before it is tokenised: text length → tokens → worker time. Learns from every finished task.
// Pure.

/** What can be known of a task from its texts. For embeddings `questionCharacters` is 0. */
export interface WorkSize {
  readonly stateCharacters: number;
  readonly questionCharacters: number;
}

/** One finished task. */
export interface Observation extends WorkSize {
  readonly inputTokens: number;
  readonly wallMs: number;
}

/** A run of length S costs about tokens × (40 µs + 0.12 µs × S) for 22M parameters in int8 on one thread. */
const MS_PER_TOKEN = 0.04;
const MS_PER_TOKEN_AND_KEY = 0.00012;
const MS_PER_TASK = 0.5;
/** What an older observation still weighs after a newer one. */
const MEMORY = 0.9;
const INITIAL_TOKENS_PER_CHARACTER = 0.25;

/** Sums of what was observed, older observations fading: a long task weighs more than a short one that met a hiccup. */
interface FadingSums {
  readonly characters: number;
  readonly tokens: number;
  readonly formulaMs: number;
  readonly wallMs: number;
}

export class CostModel {
  private readonly windowTokens: number;
  private sums: FadingSums = { characters: 0, tokens: 0, formulaMs: 0, wallMs: 0 };

  /** @param windowTokens longest run that state tokens are part of */
  constructor(windowTokens: number) {
    this.windowTokens = windowTokens;
  }

  /** Expected tokens of a text. */
  estimateTokens(characters: number): number {
    const { characters: seen, tokens } = this.sums;
    return characters * (seen > 0 ? tokens / seen : INITIAL_TOKENS_PER_CHARACTER);
  }

  /** Expected time on one worker. */
  estimateMs({ stateCharacters, questionCharacters }: WorkSize): number {
    const tokens = this.estimateTokens(stateCharacters);
    return this.slowness() * this.formulaMs(tokens, this.estimateTokens(questionCharacters));
  }

  observe({ inputTokens, wallMs, stateCharacters, questionCharacters }: Observation): void {
    const characters = stateCharacters + questionCharacters;
    const stateTokens = characters > 0 ? (inputTokens * stateCharacters) / characters : 0;
    const { sums } = this;
    this.sums = {
      characters: MEMORY * sums.characters + characters,
      tokens: MEMORY * sums.tokens + inputTokens,
      formulaMs: MEMORY * sums.formulaMs + this.formulaMs(stateTokens, inputTokens - stateTokens),
      wallMs: MEMORY * sums.wallMs + wallMs,
    };
  }

  /** Measured time ÷ formula: holds the model's size, the host's speed and its other load. */
  private slowness(): number {
    return this.sums.formulaMs > 0 ? this.sums.wallMs / this.sums.formulaMs : 1;
  }

  /** State tokens attend to their window, question tokens to the whole state. */
  private formulaMs(stateTokens: number, questionTokens: number): number {
    const perStateToken = MS_PER_TOKEN + MS_PER_TOKEN_AND_KEY * Math.min(stateTokens, this.windowTokens);
    const perQuestionToken = MS_PER_TOKEN + MS_PER_TOKEN_AND_KEY * stateTokens;
    return MS_PER_TASK + stateTokens * perStateToken + questionTokens * perQuestionToken;
  }
}
