// What a graph says of its own inputs and outputs.

/** One input or output as the runtime library describes it. */
export interface GraphValue {
  readonly name: string;
  /** `int64`, `float32`, …; `other`: no tensor. */
  readonly type: string;
  /** Numbers are fixed; names are free. */
  readonly shape: readonly (number | string)[];
}

export interface GraphSignature {
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
}
