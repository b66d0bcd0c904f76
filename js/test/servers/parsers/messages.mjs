// Messages that two parsers may read differently, and their mutations: the same ones in every run.

/** Mutated messages of each form below. */
const MUTATED = 1500;

/** `ID` is another number in each message. */
const FORMS = [
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text":"a","more":[{"deep":1}]}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop","_meta":{"progressToken":1}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"name":"stop","arguments":{"text":"a"}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"prompts/get","params":{"name":"note","arguments":{"text":"a"}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"method":"tools/call","params":{"name":"stop"}}}',
];

const TABLE = [
  ...FORMS,
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call\\u0000x","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","method\\u0000":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method\\u0000":"tools/call","method":"ping","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params\\u0000":{"name":"stop"},"params":{"name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"id\\u0000":1,"method":"tools/call","params":{"name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name\\u0000":"stop","name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop\\u0000note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments\\u0000":{"x":1},"arguments":{"text":"a"}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text\\u0000":"b","text":"a"}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"more":[{"x\\u0000y":1}]}}}',
  '{"jsonrpc":"2.0","id":ID,"Method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","METHOD":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","ID":1,"id":ID,"method":"tools/call","params":{"name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","PARAMS":{"name":"stop"},"params":{"name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"Name":"stop","name":"note"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","Argument\\u017f":{"x":1}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text":"a","TEXT":"b"}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"\\u0074ools/call","params":{"name":"st\\u006fp"}}',
  '{"jsonrpc":"2.0","id":ID.0,"method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":1e400,"method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":"\\ud800ID","method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text":1e400}}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text\\udc00":1}}}',
  '\ufeff{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,/* */"method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop"},}',
  "{'jsonrpc':'2.0','id':ID,'method':'tools/call','params':{'name':'stop'}}",
  '{"jsonrpc":"2.0","id":ID,"method":"ping"}{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop"}}',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","x":\r{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stop"}}\r}',
  '[{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"stop"}}]',
  '{"jsonrpc":"2.0","id":ID,"method":"ping","__proto__":{"method":"tools/call","params":{"name":"stop"}}}',
  ...[30, 100, 140, 3000].map(
    (depth) =>
      `{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"note","arguments":{"text":${"[".repeat(depth)}${"]".repeat(depth)}}}}`,
  ),
];

/** Added to a string somewhere: written with escapes, or as they are. */
const ADDED = [
  "\\u0000",
  "\\n",
  "\\t",
  "\\u007f",
  "\\u0085",
  "\\u200b",
  "\\ufeff",
  "\\ud800",
  "\\\\",
  " ",
  "\u0000",
  "\u007f",
  "/",
];

/** Written in place of an id. */
const IDS = [
  "ID.0",
  "IDe0",
  "ID0e-1",
  '"ID"',
  "ID.00000000000000000000001",
  "[ID]",
  "null",
  "-0",
  "1e400",
  "0xID",
  "true",
];

/** A generator of numbers below a limit, of which each run has the same ones. */
function random(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Changes one string of the text. */
function changeString(text, pick, change) {
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)];
  const { index, 0: string } = strings[pick(strings.length)];
  return text.slice(0, index) + change(string) + text.slice(index + string.length);
}

const MUTATIONS = [
  (text, pick) =>
    changeString(text, pick, (string) => {
      const at = 1 + pick(string.length - 1);
      return string.slice(0, at) + ADDED[pick(ADDED.length)] + string.slice(at);
    }),
  (text, pick) => changeString(text, pick, (string) => string.toUpperCase()),
  (text, pick) => changeString(text, pick, (string) => string.replace(/[a-z]/, (letter) => letter.toUpperCase())),
  (text, pick) =>
    changeString(text, pick, (string) =>
      string.replace(/[a-z]/g, (letter) => (pick(3) === 0 ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter)),
    ),
  // A member once more, with another value or with a name that is nearly the same.
  (text, pick) => {
    const names = [...text.matchAll(/"(method|params|id|name|arguments|text|deep)":/g)];
    if (names.length === 0) return text;
    const { index, 1: name } = names[pick(names.length)];
    const like = [
      name,
      `${name}${ADDED[pick(ADDED.length)]}`,
      name.toUpperCase(),
      `${ADDED[pick(ADDED.length)]}${name}`,
    ];
    const value = ['"tools/call"', '"stop"', '{"name":"stop"}', '{"text":"b"}', "1", "null"][pick(6)];
    return `${text.slice(0, index)}"${like[pick(like.length)]}":${value},${text.slice(index)}`;
  },
  (text, pick) => text.replace("ID", IDS[pick(IDS.length)]),
  (text, pick) => {
    const at = pick(text.length);
    const noise = [",", "/**/", "\r", "\f", "\ufeff", "{}", "\u0000", "NaN", "1e400", "//", "]"];
    return text.slice(0, at) + noise[pick(noise.length)] + text.slice(at);
  },
];

/** All of them, each with an id of its own. */
export function messages() {
  const pick = random(37);
  const mutated = FORMS.flatMap((form) =>
    Array.from({ length: MUTATED }, () => {
      let text = form;
      for (let times = 1 + pick(3); times > 0; times -= 1) {
        text = MUTATIONS[pick(MUTATIONS.length)](text, pick);
      }
      return text;
    }),
  );
  return [...TABLE, ...mutated].map((text, at) => text.replaceAll("ID", String(at + 1)));
}
