import { type GitIgnore, type Host, HostError, type RealpathFailure } from "../host.js";
import { reading } from "../members.js";
import { checkIgnore, defaultUrls, explicitUrls, nearest, pushRefs, remoteUrls } from "./virtual/git.js";
import { checkedMachine, type Machine, type MachineRepository } from "./virtual/machine.js";
import { Tree } from "./virtual/tree.js";

export type { Machine, MachineRepository } from "./virtual/machine.js";

/**
 * A host for a machine described by data; the real machine is not asked. Paths are resolved as Linux resolves them.
 *
 * @throws {@link CallgateError} `invalid-world` if the description has an unknown key, or an entry that is not absolute
 * and normalized, is of two kinds, or lies below a file or a link.
 */
export function createVirtualHost(given: Machine): Host {
  return reading("world", () => {
    const machine = checkedMachine(given);
    const tree = new Tree(machine);
    const repositoryAt = (directory: string): MachineRepository | undefined => {
      const place = tree.walk(directory, true);
      const isDirectory = !("error" in place) && place.node === "directory";
      return isDirectory ? nearest(machine.git ?? {}, place.path) : undefined;
    };
    const urls = (
      directory: string,
      outside: readonly string[],
      inside: (repository: MachineRepository) => readonly string[],
    ): readonly string[] => {
      const repository = repositoryAt(directory);
      return repository === undefined ? outside : inside(repository);
    };
    return Object.freeze({
      homeDir: machine.home,
      currentDir: machine.cwd,
      ignoresPathCase: false,
      realpath(path: string): string | RealpathFailure {
        const place = tree.walk(path, true);
        return "error" in place ? place : place.path;
      },
      readLink(path: string): string | undefined {
        const place = tree.walk(path, false);
        return "error" in place || typeof place.node === "string" ? undefined : place.node.target;
      },
      isDirectory(path: string): boolean | undefined {
        const place = tree.walk(path, true);
        if ("error" in place) {
          return place.error === "not-found" ? false : undefined;
        }
        return place.node === "directory";
      },
      gitRemoteUrls: (directory: string, remote: string) => urls(directory, [], (found) => remoteUrls(found, remote)),
      gitDefaultRemoteUrls: (directory: string) => urls(directory, [], defaultUrls),
      gitUrl: (directory: string, url: string) => urls(directory, [url], (found) => explicitUrls(found, url)),
      gitBranch(directory: string): string {
        const found = repositoryAt(directory);
        if (found === undefined) {
          throw new HostError(`\`${directory}\` is not in a git repository`);
        }
        return found.branch?.trim() ?? "";
      },
      gitPushRefs(directory: string, remote: string, reference: string): readonly string[] | undefined {
        const found = repositoryAt(directory);
        return found === undefined ? [] : pushRefs(found, remote, reference);
      },
      gitCheckIgnore(path: string): GitIgnore | undefined {
        const above = path.slice(0, path.lastIndexOf("/")) || "/";
        const place = tree.walk(above, true);
        if (!("error" in place) && place.path !== above) {
          return undefined;
        }
        const found = nearest(machine.git ?? {}, above);
        return found === undefined ? "unmentioned" : checkIgnore(found, path);
      },
      condition(name: string, subject: string): boolean {
        const predicates = machine.conditions ?? {};
        const predicate = Object.hasOwn(predicates, name) ? predicates[name] : undefined;
        if (predicate === undefined || typeof predicate === "string") {
          throw new HostError(predicate ?? `the predicate \`${name}\` does not exist`);
        }
        const asked = JSON.parse(subject) as Record<string, unknown>;
        return typeof predicate === "boolean"
          ? predicate
          : Object.entries(predicate).every(([key, value]) => JSON.stringify(asked[key]) === JSON.stringify(value));
      },
    });
  });
}
