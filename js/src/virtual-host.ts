import { type Host, HostError, type RealpathFailure } from "./host.js";
import { defaultUrls, explicitUrls, nearest, remoteUrls } from "./virtual/git.js";
import { Tree } from "./virtual/tree.js";
import { checkWorld, type World, type WorldRepository } from "./virtual/world.js";

export type { World, WorldRepository } from "./virtual/world.js";

/**
 * A host over a world that is data: nothing of the machine is asked. Paths are walked as the Linux kernel walks them.
 *
 * @throws {@link CallgateError} `invalid-world` when the world has a key that worlds do not have, or an entry that is
 * not absolute and normalized, is of two kinds, or lies below a file or a link.
 */
export function createVirtualHost(world: World): Host {
  checkWorld(world);
  const tree = new Tree(world);
  const repositoryAt = (directory: string): WorldRepository | undefined => {
    const place = tree.walk(directory, true);
    return "error" in place || place.node !== "directory" ? undefined : nearest(world.git ?? {}, place.path);
  };
  return Object.freeze({
    homeDir: world.home,
    currentDir: world.cwd,
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
      return "error" in place ? undefined : place.node === "directory";
    },
    gitRemoteUrls(directory: string, remote: string): readonly string[] {
      const repository = repositoryAt(directory);
      return repository === undefined ? [] : remoteUrls(repository, remote);
    },
    gitDefaultRemoteUrls(directory: string): readonly string[] {
      const repository = repositoryAt(directory);
      return repository === undefined ? [] : defaultUrls(repository);
    },
    condition(name: string, subject: string): boolean {
      const predicates = world.conditions ?? {};
      const predicate = Object.hasOwn(predicates, name) ? predicates[name] : undefined;
      if (predicate === undefined || typeof predicate === "string") {
        throw new HostError(predicate ?? `the predicate \`${name}\` is not there`);
      }
      const asked = JSON.parse(subject) as Record<string, unknown>;
      return typeof predicate === "boolean"
        ? predicate
        : Object.entries(predicate).every(([key, value]) => JSON.stringify(asked[key]) === JSON.stringify(value));
    },
    gitUrl(directory: string, url: string): readonly string[] {
      const repository = repositoryAt(directory);
      return repository === undefined ? [url] : explicitUrls(repository, url);
    },
  });
}
