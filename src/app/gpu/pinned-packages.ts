// What CUDA needs, to the byte: the packages of PyPI, and the libraries in them. A new version of the runtime library needs new
// sums here (docs/guides/gpu.md says how they are made); a test compares the version with the package that is installed.

import type { PinnedPackage } from './pinned-package.ts';

/** Of the runtime library that these belong to. */
export const PINNED_VERSION = '1.30.0';

const MIT = 'MIT';
const NVIDIA = "NVIDIA's own, which lies in the package (License.txt)";

/** The provider itself. */
export const PROVIDER_PACKAGES: readonly PinnedPackage[] = [
  {
    package: 'onnxruntime-gpu',
    file: 'onnxruntime_gpu-1.30.0-cp311-cp311-manylinux_2_28_x86_64.whl',
    bytes: 246_658_419,
    sha256: '4fbf0c5d7b5fb99266c2e8a802e3e64af68bdc383e0f3c7349b985f1087eedaa',
    licence: MIT,
    members: [
      {
        name: 'libonnxruntime_providers_shared.so',
        bytes: 14_632,
        sha256: '086ec1d5388f64153d9c63470d126693db9a182c8ce236d3a1119068471b8a0d',
      },
      {
        name: 'libonnxruntime_providers_cuda.so',
        bytes: 272_049_904,
        sha256: '9d7587acb137b31bf84e4d32dc444b969bb601d098b01395effcacfe4341e364',
      },
    ],
  },
];

/** NVIDIA's libraries, as the provider was built with; in the order in which they are loaded. */
export const LIBRARY_PACKAGES: readonly PinnedPackage[] = [
  {
    package: 'nvidia-cuda-runtime',
    file: 'nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
    bytes: 2_243_632,
    sha256: '7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548',
    licence: NVIDIA,
    members: [
      {
        name: 'libcudart.so.13',
        bytes: 704_288,
        sha256: '96c42e418cec19054186b9429c321603cc190bf26a18104e19408117a2a817b0',
      },
    ],
  },
  {
    package: 'nvidia-cuda-nvrtc',
    file: 'nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl',
    bytes: 90_215_200,
    sha256: 'ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575',
    licence: NVIDIA,
    members: [
      {
        name: 'libnvrtc-builtins.so.13.0',
        bytes: 4_380_616,
        sha256: '91dcd944d01da9c0f08fff5d779db136a47f6d62bdb63bae900d2f481e92c3a2',
      },
      {
        name: 'libnvrtc.so.13',
        bytes: 109_338_064,
        sha256: 'a49e67e8e74590f1e98de55c39c6287efd3f59e3c3797464d7bbe0fe01349b11',
      },
    ],
  },
  {
    package: 'nvidia-cublas',
    file: 'nvidia_cublas-13.0.2.14-py3-none-manylinux_2_27_x86_64.whl',
    bytes: 420_882_912,
    sha256: '0cf238ffdbe46c00cb9aa98e7bca745c223a5ca5a53e686ac8b3e5a08fe80d6c',
    licence: NVIDIA,
    members: [
      {
        name: 'libcublasLt.so.13',
        bytes: 539_533_072,
        sha256: '4c15f403ac2a8040a3291d07f6c351b5c1f730b45f2ea41f302e415e9600655b',
      },
      {
        name: 'libcublas.so.13',
        bytes: 54_440_120,
        sha256: '1d5f1452af53a0b1cf36bc7d8116d2a22a5f2cffbaa8fca25a1b70360a2e8d7a',
      },
    ],
  },
  {
    package: 'nvidia-curand',
    file: 'nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl',
    bytes: 59_544_258,
    sha256: '1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc',
    licence: NVIDIA,
    members: [
      {
        name: 'libcurand.so.10',
        bytes: 132_698_328,
        sha256: 'b53732a66b302b11926e00f762e2c2ba67058347ff93cf4ae709de45e93e06da',
      },
    ],
  },
  {
    package: 'nvidia-cudnn-cu13',
    file: 'nvidia_cudnn_cu13-9.20.0.48-py3-none-manylinux_2_27_x86_64.whl',
    bytes: 366_173_588,
    sha256: '0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304',
    licence: NVIDIA,
    members: [
      {
        name: 'libcudnn_graph.so.9',
        bytes: 4_460_192,
        sha256: '35c099d318433a88d292775676a51a07d2dd152c3ae799b1c21a75b40f78e456',
      },
      {
        name: 'libcudnn_ops.so.9',
        bytes: 39_855_888,
        sha256: '705d3dcf9b209fdbeeecd8aaec5fcd0f6f55de5661e1c1388b5a4b8fd29db7c3',
      },
      {
        name: 'libcudnn_cnn.so.9',
        bytes: 4_203_904,
        sha256: 'e830c5cba875ebeb8ed3cfde5cc038a2703692ce714a8a4ff28666ac8e2c5732',
      },
      {
        name: 'libcudnn_adv.so.9',
        bytes: 109_169_104,
        sha256: '7702094a50dbea5b8244df01af8e9d3565309d3996bbc8ca96b6c7a207d2d6bd',
      },
      {
        name: 'libcudnn_heuristic.so.9',
        bytes: 60_822_040,
        sha256: 'a41eb9baa9ccc9e2d6c9f2ca226021b54c8ee2df4abf3a91e41687847b481228',
      },
      {
        name: 'libcudnn_engines_precompiled.so.9',
        bytes: 245_391_920,
        sha256: 'e5133109f710c215d72fdc8f1d9be187f4760f5f32e57cc8c57515ea9e91455e',
      },
      {
        name: 'libcudnn_engines_runtime_compiled.so.9',
        bytes: 29_386_664,
        sha256: '28db2a6f433a184e264d927b183c47ecaf72dc65ed58245a6d2380f980e29cd3',
      },
      {
        name: 'libcudnn.so.9',
        bytes: 129_240,
        sha256: 'b88025af76979b3f1af208790195093684fe01cb8d190528856058f988016660',
      },
    ],
  },
];
