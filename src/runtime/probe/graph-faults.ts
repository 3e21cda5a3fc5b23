// The runtime library's words for graphs that it cannot open, as words for whoever pulled them.

interface KnownFault {
  readonly words: RegExp;
  readonly meaning: string;
}

const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    words: /escapes model directory/i,
    meaning: 'its weights lie behind a link that leads out of its folder',
  },
  {
    words: /opset|IR[_ ]VERSION/i,
    meaning: 'it needs a newer runtime library than this one',
  },
  {
    words: /external data|onnx_data|file_size|GetFileLength|cannot get file size|No such file/i,
    meaning: 'a file of weights beside it is missing or cut',
  },
  {
    words: /not a registered function\/op|No Op registered|NOT_IMPLEMENTED/i,
    meaning: 'it has an operation that this runtime library does not know',
  },
  {
    words: /INVALID_PROTOBUF|Protobuf parsing failed|ModelProto does not have a graph/i,
    meaning: 'it is no graph, or cut',
  },
];

/** The library puts what is wrong at the end of a long line. */
const MOST_CHARACTERS = 240;

/** @returns the message, with what it means before it where that is known */
export function describeGraphFault(message: string): string {
  const known = KNOWN_FAULTS.find(({ words }) => words.test(message));
  const told = message
    .replace(/^.*?\/onnxruntime_src\/\S+\s+/s, '')
    .replace(/\s+/g, ' ')
    .trim();
  const short = told.length > MOST_CHARACTERS ? `… ${told.slice(-MOST_CHARACTERS)}` : told;
  return known === undefined ? short : `the graph cannot be opened: ${known.meaning} (${short})`;
}
