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
/** Weight of a new observation in the running averages. */
const LEARNING_RATE = 0.1;
const INITIAL_TOKENS_PER_CHARACTER = 0.25;

export class CostModel {
  private readonly windowTokens: number;
  private tokensPerCharacter = INITIAL_TOKENS_PER_CHARACTER;
  /** Measured time ÷ formula, running average: holds the model's size, the host's speed and its other load. */
  private slowness = 1;
  private observations = 0;

  /** @param windowTokens longest run that state tokens are part of */
  constructor(windowTokens: number) {
    this.windowTokens = windowTokens;
  }

  /** Expected tokens of a text. */
  estimateTokens(characters: number): number {
    return characters * this.tokensPerCharacter;
  }

  /** Expected time on one worker. */
  estimateMs({ stateCharacters, questionCharacters }: WorkSize): number {
    const tokens = this.estimateTokens(stateCharacters);
    return this.slowness * this.formulaMs(tokens, this.estimateTokens(questionCharacters));
  }

  observe({ inputTokens, wallMs, ...size }: Observation): void {
    const characters = size.stateCharacters + size.questionCharacters;
    // The first observations count in full, so that warm-up sets the scale.
    this.observations += 1;
    const rate = Math.max(LEARNING_RATE, 1 / this.observations);
    if (characters > 0) {
      this.tokensPerCharacter += rate * (inputTokens / characters - this.tokensPerCharacter);
    }
    const stateTokens = characters > 0 ? (inputTokens * size.stateCharacters) / characters : 0;
    const formulaMs = this.formulaMs(stateTokens, inputTokens - stateTokens);
    this.slowness += rate * (wallMs / formulaMs - this.slowness);
  }

  /** State tokens attend to their window, question tokens to the whole state. */
  private formulaMs(stateTokens: number, questionTokens: number): number {
    const perStateToken = MS_PER_TOKEN + MS_PER_TOKEN_AND_KEY * Math.min(stateTokens, this.windowTokens);
    const perQuestionToken = MS_PER_TOKEN + MS_PER_TOKEN_AND_KEY * stateTokens;
    return MS_PER_TASK + stateTokens * perStateToken + questionTokens * perQuestionToken;
  }
}
