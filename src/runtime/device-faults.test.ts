import { expect, it } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { DeviceLost, OutOfDeviceMemory, toDeviceError } from './device-faults.ts';

const RUN = "Non-zero status code returned while running MatMul node. Name:'node_1' Status Message: ";
const WHERE =
  ' ; GPU=0 ; hostname=host ; file=/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_execution_provider.cc ; line=168 ; expr=';

it.each([
  `${RUN}/onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*) Failed to allocate memory for requested buffer of size 134217728`,
  `${RUN}Available memory of 1048576 is smaller than requested bytes of 134217728`,
  `${RUN}Failed to find a free memory block despite calling Extend. rounded_bytes=134217728`,
  `CUDA failure 2: out of memory${WHERE}cudaMalloc((void**)&p, size);`,
  `${RUN}CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED${WHERE}cublasCreate(&cublas_handle_);`,
  `CUDNN failure 4: CUDNN_STATUS_ALLOC_FAILED${WHERE}cudnnCreate(&cudnn_handle_);`,
  `CUDNN failure 4003: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED${WHERE}cudnnCreate(&cudnn_handle_);`,
  `${RUN}CUDA error cudaErrorMemoryAllocation:out of memory`,
  `${RUN}std::bad_alloc`,
  `${RUN}bad allocation`,
])('knows that there was no memory: %s', (message) => {
  const error = toDeviceError(new Error(message));
  expect(error).toBeInstanceOf(OutOfDeviceMemory);
  expect(error).toMatchObject({ code: 'overloaded', retryAfterMs: 1000, cause: { message } });
});

it.each([
  `CUDA failure 700: an illegal memory access was encountered${WHERE}cudaStreamSynchronize(stream);`,
  `${RUN}CUDA failure 719: unspecified launch failure${WHERE}cudaGetLastError();`,
  `CUDA failure 46: all CUDA-capable devices are busy or unavailable${WHERE}cudaSetDevice(0);`,
  `CUDA failure 100: no CUDA-capable device is detected${WHERE}cudaSetDevice(0);`,
  `CUDA failure 214: uncorrectable ECC error encountered${WHERE}cudaMemcpyAsync(a, b, c, d, e);`,
  `CUDA failure 999: unknown error${WHERE}cudaEventCreate(&event);`,
  `${RUN}CUBLAS failure 13: CUBLAS_STATUS_EXECUTION_FAILED${WHERE}cublasGemmHelper();`,
  `${RUN}CUBLAS failure 1: CUBLAS_STATUS_NOT_INITIALIZED${WHERE}cublasCreate(&cublas_handle_);`,
  `${RUN}CUDNN failure 5000: CUDNN_STATUS_EXECUTION_FAILED${WHERE}cudnnSoftmaxForward();`,
  `${RUN}CUBLAS error executing cublasGemmHelper(handle, a, b)`,
  `${RUN}CUDA error cudaErrorLaunchFailure:unspecified launch failure`,
])('knows that the device is lost: %s', (message) => {
  const error = toDeviceError(new Error(message));
  expect(error).toBeInstanceOf(DeviceLost);
  expect(error).toMatchObject({ code: 'model_unavailable', retryAfterMs: 10_000, cause: { message } });
  // Where it stood in the library is for the log alone.
  expect(error).not.toMatchObject({ message: expect.stringContaining('host') });
});

it.each([
  `${RUN}CUDA failure 1: invalid argument${WHERE}cudaMemcpy(a, b, c, d);`,
  `${RUN}CUDA failure 9: invalid configuration argument${WHERE}cudaGetLastError();`,
  `${RUN}CUDA failure 209: no kernel image is available for execution on the device${WHERE}cudaGetLastError();`,
  `${RUN}CUBLAS failure 7: CUBLAS_STATUS_INVALID_VALUE${WHERE}cublasGemmHelper();`,
  `${RUN}CUDNN failure 3000: CUDNN_STATUS_NOT_SUPPORTED${WHERE}cudnnCreate();`,
  'Got invalid dimensions for input: token_ids',
])('leaves what is wrong with a graph or its input as it is: %s', (message) => {
  const error = new Error(message);
  expect(toDeviceError(error)).toBe(error);
});

it('leaves an error that is ours already as it is', () => {
  const error = new AppError('context_length_exceeded', 'out of memory');
  expect(toDeviceError(error)).toBe(error);
});
