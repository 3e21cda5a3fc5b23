// What is configured of the device that models run on.

export interface DeviceSetup {
  /** Execution provider: `auto`, `cpu`, `cuda`, or any other name of the runtime library. */
  readonly device: string;
  /** Whether a named device that cannot be used may be replaced by `cpu`; otherwise the start fails. */
  readonly allowDeviceFallback: boolean;
  /** Where `umpire gpu install` put what CUDA needs. Default: beside the runtime library alone is looked. */
  readonly gpuDir?: string | undefined;
}
