// A worker of the tests calls servers by the same HTTP client as the program; src/launch.js says why.

import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647');
