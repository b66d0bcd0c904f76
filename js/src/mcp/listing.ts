// Asking the server for its tools before it gets a call of one that is pinned: it may have changed since, and a client need not
// list tools before it calls one.
import { member } from "../members.js";
import { isObject, type Members } from "./message.js";
import { MODERN } from "./options.js";
import type { Pins } from "./pins.js";
import { readTools } from "./tools.js";

/** How many milliseconds a server may take to list its tools, and on how many pages. */
const PATIENCE = 10_000;
const PAGES = 1_000;

export class Listing {
  readonly #pins: Pins;
  readonly #send: (message: Members) => Promise<void>;
  /** The start of the ids of the gate's own requests. */
  readonly #prefix = `callgate/${crypto.randomUUID()}-`;
  #count = 0;
  #asked: { readonly id: string; readonly answer: (message: Members | undefined) => void } | undefined;
  #running: Promise<void> | undefined;

  constructor(pins: Pins, send: (message: Members) => Promise<void>) {
    this.#pins = pins;
    this.#send = send;
  }

  /** Lists the tools, as a client of this revision does; done once they are known, or cannot be. */
  run(revision: unknown): Promise<void> {
    this.#running ??= this.#list(revision).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Returns `true` if an id is that of the gate's own request. */
  owns(id: unknown): boolean {
    return typeof id === "string" && id.startsWith(this.#prefix);
  }

  /** Takes the server's answer to the gate's own request, unless it comes too late. */
  take(answer: Members): void {
    if (this.#asked?.id === answer.id) {
      this.#asked?.answer(answer);
    }
  }

  async #list(revision: unknown): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE);
    });
    try {
      await this.#pages(revision, late);
    } finally {
      clearTimeout(timer);
      this.#asked = undefined;
    }
  }

  async #pages(revision: unknown, late: Promise<undefined>): Promise<void> {
    let cursor: string | undefined;
    let { edition } = this.#pins;
    for (let page = 0; page < PAGES; page += 1) {
      const answer = await Promise.race([this.#page(revision, cursor), late]);
      const result = answer && member(answer, "result");
      const listed = readTools(result);
      if (!isObject(result) || typeof listed === "string") {
        return;
      }
      for (const { name, tool } of listed) {
        this.#pins.lists(name, tool, edition);
      }
      const isNew = this.#pins.edition === edition;
      const next = member(result, "nextCursor");
      cursor = isNew && typeof next === "string" ? next : undefined;
      if (cursor === undefined && isNew) {
        this.#pins.complete(edition);
        return;
      }
      // A list that changes while it is read is read again.
      edition = this.#pins.edition;
    }
  }

  #page(revision: unknown, cursor: string | undefined): Promise<Members | undefined> {
    this.#count += 1;
    const id = `${this.#prefix}${this.#count}`;
    const meta = { [MODERN]: revision, "io.modelcontextprotocol/clientCapabilities": {} };
    const params = { ...(cursor === undefined ? {} : { cursor }), ...(revision === undefined ? {} : { _meta: meta }) };
    return new Promise((resolve) => {
      this.#asked = { id, answer: resolve };
      this.#send({ jsonrpc: "2.0", id, method: "tools/list", params }).catch(() => resolve(undefined));
    });
  }
}
