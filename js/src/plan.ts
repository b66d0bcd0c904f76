import type { WasmEngine } from "../wasm/callgate.js";
import type { Interest, Shape } from "./arguments.js";
import { isWellFormed } from "./text.js";
import { VerdictCache } from "./verdict-cache.js";

/** The most shapes that are kept of one tool's calls; others are written out. */
const MOST_SHAPES = 16;

/** A tool that is annotated, as the module knows it. */
export class Plan implements Interest {
  readonly others: boolean;
  readonly pathLike: boolean;
  readonly members: ReadonlyMap<string, boolean>;
  /** The number of this plan, or of the shape that was found last. */
  number: number;
  readonly #built: WasmEngine;
  readonly #server: string;
  readonly #tool: string;
  readonly #number: number;
  readonly #shapes: Shape[] = [];
  #last: Shape | undefined;

  constructor(built: WasmEngine, server: string, tool: string, shown: ShownPlan, pathLike: boolean) {
    this.#built = built;
    this.#server = server;
    this.#tool = tool;
    this.#number = shown.number;
    this.number = shown.number;
    this.members = new Map(shown.members);
    this.others = shown.others;
    this.pathLike = pathLike;
  }

  shapeOf(names: readonly string[]): Shape | undefined {
    let shape = this.#last;
    if (shape === undefined || !isSame(shape.names, names)) {
      shape = this.#shapes.find((known) => isSame(known.names, names)) ?? this.#shape(names);
      this.#last = shape;
    }
    this.number = shape?.number ?? this.#number;
    return shape;
  }

  /** Forgets the verdicts of shapes. */
  forget(): void {
    for (const shape of this.#shapes) {
      shape.cache.clear();
    }
  }

  #shape(names: readonly string[]): Shape | undefined {
    if (this.#shapes.length === MOST_SHAPES || names.length > 64 || !names.every(isShort)) {
      return undefined;
    }
    const number = this.#built.shape(this.#server, this.#tool, names as string[]);
    if (number === undefined) {
      return undefined;
    }
    const matters = names.map((name) => this.members.get(name) ?? this.others);
    const origin = matters.includes(true) ? this.#built.variesBy(number) : -1;
    const shape: Shape = { number, names, matters, origin, cache: new VerdictCache() };
    this.#shapes.push(shape);
    return shape;
  }
}

/** A plan as the module shows it. */
export interface ShownPlan {
  readonly number: number;
  readonly members: readonly (readonly [string, boolean])[];
  readonly others: boolean;
}

/** Whether a name is fit to be kept. */
function isShort(name: string): boolean {
  return name.length <= 64 && isWellFormed(name);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) {
    return false;
  }
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) {
      return false;
    }
  }
  return true;
}
