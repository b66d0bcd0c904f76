// The filter for proxies in Node: as much of the ABI of proxy-wasm as the filter asks for.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The module, as `cargo pack proxy` writes it. */
export const FILTER = fileURLToPath(new URL("../../../wasm/dist/callgate.proxy.wasm", import.meta.url));

let compiled;

// Kinds of buffers and of headers, and the statuses, as the ABI numbers them.
const REQUEST = 0;
const ANSWER = 1;
const CONFIGURATION = 7;
const REQUEST_HEADERS = 0;
const OK = 0;
const PAUSE = 1;

/** A proxy with one filter. Its time is `clock.now`, in milliseconds; `log` has what the filter says, with its level. */
export function startFilter(clock = { now: Date.now() }) {
  compiled ??= new WebAssembly.Module(readFileSync(FILTER));
  const log = [];
  let stream;
  let configuration = Buffer.alloc(0);
  const bytes = (at, size) => new Uint8Array(wasm.memory.buffer, at, size).slice();
  const text = (at, size) => new TextDecoder().decode(bytes(at, size));
  const number = (at, value) => new DataView(wasm.memory.buffer).setUint32(at, value, true);
  const give = (value, data, size) => {
    const at = wasm.malloc(value.length);
    new Uint8Array(wasm.memory.buffer).set(value, at);
    number(data, at);
    number(size, value.length);
    return OK;
  };
  const headersOf = (kind) => (kind === REQUEST_HEADERS ? stream.headers : stream.answerHeaders);
  const imports = {
    proxy_log: (level, at, size) => {
      log.push([level, text(at, size)]);
      return OK;
    },
    proxy_get_current_time_nanoseconds: (at) => {
      new DataView(wasm.memory.buffer).setBigUint64(at, BigInt(clock.now) * 1_000_000n, true);
      return OK;
    },
    proxy_get_buffer_bytes: (kind, start, most, data, size) => {
      const whole = kind === CONFIGURATION ? configuration : stream.buffers[kind];
      return give(whole.subarray(start, Math.min(whole.length, start + (most >>> 0))), data, size);
    },
    proxy_set_buffer_bytes: (kind, _start, _size, at, size) => {
      stream.buffers[kind] = bytes(at, size);
      return OK;
    },
    proxy_get_header_map_pairs: (kind, data, size) => give(written(headersOf(kind)), data, size),
    proxy_replace_header_map_value: (kind, key, keySize, value, valueSize) => {
      const name = text(key, keySize);
      const others = headersOf(kind).filter(([other]) => other !== name);
      headersOf(kind).splice(0, Infinity, ...others, [name, text(value, valueSize)]);
      return OK;
    },
    proxy_remove_header_map_value: (kind, key, keySize) => {
      const name = text(key, keySize);
      headersOf(kind).splice(0, Infinity, ...headersOf(kind).filter(([other]) => other !== name));
      return OK;
    },
    proxy_send_local_response: (status, _details, _detailsSize, at, size) => {
      stream.reply = { status, text: text(at, size) };
      return OK;
    },
    proxy_set_effective_context: () => OK,
  };
  const unasked = (name) => () => {
    throw new Error(`the filter asks for \`${name}\``);
  };
  const named = WebAssembly.Module.imports(compiled).map(({ name }) => [name, imports[name] ?? unasked(name)]);
  const wasm = new WebAssembly.Instance(compiled, { env: Object.fromEntries(named) }).exports;
  wasm._initialize();
  wasm.proxy_on_context_create(1, 0);
  wasm.proxy_on_vm_start(1, 0);
  let contexts = 1;

  /** Configures the filter by a text, or bytes, and returns `true` if it can be used. */
  const configure = (given) => {
    configuration = Buffer.from(given);
    return wasm.proxy_on_configure(1, configuration.length) !== 0;
  };

  /**
   * Shows the filter a request, its body in pieces, and then what the server answers to it. Returns `sent`, the body and the headers
   * that the server gets, or `reply`, the filter's own answer; and `answer`, which the client gets of the server's.
   */
  const exchange = ({ method = "POST", headers = {}, pieces = [] }, answered) => {
    const id = ++contexts;
    const all = { ":method": method, ":path": "/mcp", "content-type": "application/json", ...headers };
    stream = { headers: Object.entries(all), buffers: { [REQUEST]: new Uint8Array(), [ANSWER]: new Uint8Array() } };
    wasm.proxy_on_context_create(id, 1);
    try {
      let action = wasm.proxy_on_request_headers(id, all.length, pieces.length === 0 ? 1 : 0);
      for (const [at, piece] of pieces.entries()) {
        if (stream.reply !== undefined) break;
        stream.buffers[REQUEST] = Buffer.concat([stream.buffers[REQUEST], Buffer.from(piece)]);
        action = wasm.proxy_on_request_body(id, stream.buffers[REQUEST].length, at + 1 === pieces.length ? 1 : 0);
      }
      if (stream.reply !== undefined || action === PAUSE) return { reply: stream.reply };
      const body = Buffer.from(stream.buffers[REQUEST]).toString();
      const sent = { body, headers: Object.fromEntries(stream.headers) };
      if (answered === undefined) return { sent };
      stream.answerHeaders = Object.entries({ ":status": "200", ...answered.headers });
      wasm.proxy_on_response_headers(id, stream.answerHeaders.length, 0);
      let answer = "";
      for (const [at, piece] of answered.pieces.entries()) {
        if (stream.reply !== undefined) return { sent, reply: stream.reply };
        stream.buffers[ANSWER] = Buffer.concat([stream.buffers[ANSWER], Buffer.from(piece)]);
        const isLast = at + 1 === answered.pieces.length;
        const held = wasm.proxy_on_response_body(id, stream.buffers[ANSWER].length, isLast ? 1 : 0);
        if (held === PAUSE) continue;
        answer += Buffer.from(stream.buffers[ANSWER]).toString();
        stream.buffers[ANSWER] = new Uint8Array();
      }
      return { sent, answer };
    } finally {
      wasm.proxy_on_done(id);
      wasm.proxy_on_delete(id);
    }
  };
  return { configure, exchange, log };
}

/** Headers as the ABI writes them: their number, the sizes of each, and each with a zero behind it. */
function written(headers) {
  const parts = headers.flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]);
  const numbers = Buffer.alloc(4 + 4 * parts.length);
  numbers.writeUInt32LE(headers.length, 0);
  for (const [at, part] of parts.entries()) numbers.writeUInt32LE(part.length, 4 + 4 * at);
  return Buffer.concat([numbers, ...parts.flatMap((part) => [part, Buffer.alloc(1)])]);
}

/** The module with a trap in place of one of its functions. */
export function withTrap(module, name) {
  const bytes = Buffer.from(module);
  let at = 8;
  const number = () => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  };
  const string = () => {
    const size = number();
    at += size;
    return bytes.toString("utf8", at - size, at);
  };
  let [imported, index] = [0, undefined];
  while (at < bytes.length) {
    const section = bytes[at++];
    const size = number();
    const end = at + size;
    if (section === 2) imported = number();
    if (section === 7) {
      for (let left = number(); left > 0; left--) {
        const found = string();
        at++;
        const place = number();
        if (found === name) index = place;
      }
    }
    if (section === 10) {
      number();
      for (let function_ = imported; ; function_++) {
        const size = number();
        if (function_ === index) {
          // No variables, `unreachable`, and what is never reached.
          bytes.fill(0x01, at, at + size);
          bytes[at] = 0x00;
          bytes[at + 1] = 0x00;
          bytes[at + size - 1] = 0x0b;
          return bytes;
        }
        at += size;
      }
    }
    at = end;
  }
  throw new Error(`the module has no function \`${name}\``);
}
