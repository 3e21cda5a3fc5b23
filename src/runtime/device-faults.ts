// What the runtime library says when a device fails, as errors of ours: it has no code for that, only words. They are those of
// its arena (`bfc_arena.cc`), of its calls of CUDA (`cuda_call.cc`) and of NVIDIA's libraries. Pure.

import { AppError, messageOf } from '../domain/errors.ts';

const NO_ROOM_RETRY_MS = 1000;
/** A server that starts anew needs about as long. */
const LOST_RETRY_MS = 10_000;

const NO_MEMORY =
  /out of memory|failed to allocate memory|failed to find a free memory block|available memory of \d+ is smaller|alloc(?:ation)?_failed|cudaErrorMemoryAllocation|bad[ _]alloc/i;

/** `CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=… ; file=… ; line=… ; expr=…` */
const FAILED_CALL = /\b(?:CUDA|CUBLAS|CUDNN|CUFFT|CURAND|NCCL) (?:failure|error)\b|\bcudaError[A-Z]/;

/**
 * Calls that are refused for what was asked, and leave the device as it was: a wrong value or configuration, no such kernel, not
 * supported. Asked again they fail again, wherever that is.
 */
const REFUSED_CALL =
  /\bCUDA failure (?:1|9|98|209|801):|_STATUS_(?:INVALID_VALUE|BAD_PARAM|NOT_SUPPORTED|ARCH_MISMATCH)/;

/** The device had no memory for a run. Half of its rows may fit. */
export class OutOfDeviceMemory extends AppError {
  constructor(cause: unknown) {
    super('overloaded', 'The device has no memory for this at the moment.', {
      retryAfterMs: NO_ROOM_RETRY_MS,
      cause,
    });
  }
}

/** The device failed in the middle of a run: whatever was open on it is of no use any more. */
export class DeviceLost extends AppError {
  constructor(cause: unknown) {
    super('model_unavailable', 'The device that this model runs on has failed.', {
      retryAfterMs: LOST_RETRY_MS,
      cause,
    });
  }
}

/** @param error of the runtime library @returns one of the above, or the same */
export function toDeviceError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = messageOf(error);
  if (NO_MEMORY.test(message)) return new OutOfDeviceMemory(error);
  return FAILED_CALL.test(message) && !REFUSED_CALL.test(message) ? new DeviceLost(error) : error;
}
