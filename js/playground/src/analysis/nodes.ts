import type { DecidedBy, Region, RegionArgument, RegionPlace } from "callgate/tools";
import { DECISIONS } from "../state.js";

/** A row of a map: a place, or a value, with the regions that begin there. */
export interface MapNode {
  /** The name of the row where it stands. */
  readonly name: string;
  /** The whole description, for whoever does not see where it stands. */
  readonly title: string;
  /** From 1: how many of the map's directories it lies in. */
  readonly level: number;
  /** The verdicts by further arguments; one if these make no difference. */
  readonly variants: readonly Variant[];
}

/** Calls with one verdict. */
export interface Variant extends DecidedBy, Pick<Region, "arguments" | "context"> {
  /** The other arguments; empty if they make no difference. */
  readonly places: readonly RegionArgument[];
}

/** Rules that refuse a call for its form, whatever the policy says. */
const ABOUT_FORM: ReadonlySet<string> = new Set([
  "structural-unresolvable-value",
  "structural-unknown-argument",
  "structural-unreadable-argument",
]);

/** Returns `true` if the calls of a region are refused for their form. */
export function isAboutForm({ rule }: Pick<Region, "rule">): boolean {
  return ABOUT_FORM.has(rule);
}

/** The regions as the rows of a tree: directories below those that hold them, in the order of their names, then other values. */
export function nodesOf(regions: readonly Region[]): MapNode[] {
  const first = regions[0]?.places.findIndex((_, at) => regions.some(({ places }) => places[at]?.within !== undefined));
  const main = first === undefined || first < 0 ? 0 : first;
  const grouped = new Map<string, Region[]>();
  for (const region of regions) {
    const is = region.places[main]?.is ?? "every call";
    grouped.set(is, [...(grouped.get(is) ?? []), region]);
  }
  const groups = [...grouped].map(([is, of]) => ({ is, of, within: of[0]?.places[main]?.within }));
  const directories = new Set(groups.map(({ within }) => within).filter((one) => one !== undefined));
  const nodes = groups.map(({ is, of, within }) => {
    const aside = within === undefined ? undefined : besides(is, within);
    const parent = within === undefined ? undefined : nearest(within, directories);
    const depth = within === undefined ? 1 : depthOf(within, directories);
    return {
      within,
      aside,
      node: {
        name: within === undefined ? is : (aside ?? below(within, parent)),
        title: is,
        level: depth + (aside === undefined ? 0 : 1),
        variants: variantsOf(of, main),
      },
    };
  });
  const paths = nodes.filter(({ within }) => within !== undefined);
  paths.sort(
    (one, other) => compare(one.within ?? "", other.within ?? "") || Number(!!one.aside) - Number(!!other.aside),
  );
  return [...paths, ...nodes.filter(({ within }) => within === undefined)].map(({ node }) => node);
}

/** The parts of a description of a directory besides that something lies in it. */
function besides(is: string, within: string): string | undefined {
  const under = `under ${within}`;
  if (is === under || is.startsWith(`${under} but not `) || is === "anywhere" || is.startsWith("elsewhere")) {
    return undefined;
  }
  return is.startsWith(`${under}, `) ? is.slice(under.length + 2) : is.replace(`${within} itself`, "itself");
}

/** The nearest of the directories that holds this one. */
function nearest(path: string, directories: ReadonlySet<string>): string | undefined {
  for (let at = path.lastIndexOf("/"); path !== "/" && at >= 0; at = path.lastIndexOf("/", at - 1)) {
    const above = path.slice(0, at) || "/";
    if (directories.has(above)) {
      return above;
    }
    if (at === 0) {
      break;
    }
  }
  return undefined;
}

function depthOf(path: string, directories: ReadonlySet<string>): number {
  const parent = nearest(path, directories);
  return parent === undefined ? 1 : depthOf(parent, directories) + 1;
}

function below(path: string, parent: string | undefined): string {
  return parent === undefined ? path : path.slice(parent === "/" ? 1 : parent.length + 1);
}

/** The order in which a directory is followed by what is in it. */
function compare(one: string, other: string): number {
  const [a, b] = [one.split("/").filter(Boolean), other.split("/").filter(Boolean)];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = (a[at] ?? "") < (b[at] ?? "") ? -1 : a[at] === b[at] ? 0 : 1;
    if (order !== 0) {
      return order;
    }
  }
  return a.length - b.length;
}

/** The regions by the other arguments. Those with one verdict that differ in one argument alone are one. */
function variantsOf(regions: readonly Region[], main: number): Variant[] {
  const [first] = regions;
  if (first === undefined) {
    return [];
  }
  if (regions.every(({ decision, rule }) => decision === first.decision && rule === first.rule)) {
    return [{ ...first, places: [] }];
  }
  const column = ({ argument, roles, is }: RegionPlace): RegionArgument => ({ argument, roles, is: [is] });
  let variants: Variant[] = regions.map((region) => ({
    ...region,
    places: region.places.filter((_, at) => at !== main).map(column),
  }));
  for (let at = first.places.length - 2; at >= 0; at -= 1) {
    const found = new Map<string, Variant>();
    for (const variant of variants) {
      const rest = variant.places.map((place, other) => (other === at ? place.argument : place));
      const key = JSON.stringify([variant.decision, variant.rule, rest]);
      const known = found.get(key);
      found.set(key, known === undefined ? variant : joined(known, variant, at));
    }
    variants = [...found.values()];
  }
  // An open row is seen first.
  const rank = ({ decision }: Variant) => DECISIONS.indexOf(decision);
  return variants.sort((one, other) => rank(one) - rank(other));
}

function joined(one: Variant, other: Variant, at: number): Variant {
  const is = (variant: Variant) => variant.places[at]?.is ?? [];
  const places = one.places.map((place, index) =>
    index === at ? { ...place, is: [...new Set([...is(one), ...is(other)])] } : place,
  );
  return { ...one, places };
}

/** How many values are named one by one. */
const MOST = 6;

/** Describes arguments in words. */
export function described(places: readonly RegionArgument[]): string {
  return places
    .map(({ argument, roles, is }) => `${argument}${roles.length === 0 ? "" : ` (${roles.join(", ")})`}: ${listed(is)}`)
    .join(", and ");
}

/** The first few of the names, which may have commas in them, and how many others there are. */
export function listed(names: readonly string[]): string {
  return names.length > MOST + 1
    ? `${names.slice(0, MOST).join("; ")}; and ${names.length - MOST} more`
    : names.join("; ");
}
