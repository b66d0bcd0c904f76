import { CallgateError } from "../errors.js";
import { directoriesOf, type GitIgnore, type Host, HostError, type RealpathFailure } from "../host.js";
import { member, reading } from "../members.js";
import type { Exchange, Recording } from "../types.js";

const FAILURES: ReadonlyMap<unknown, RealpathFailure["error"]> = new Map([
  ["notFound", "not-found"],
  ["loop", "loop"],
  ["denied", "denied"],
  ["notUtf8", "not-utf8"],
  ["other", "other"],
]);

/**
 * A host that repeats what another host answered during one evaluation, so that an engine of the same documents gives
 * the same verdict. A question that was not recorded is a failure of the host, so the call is denied.
 *
 * A recording does not hold the answers of role callbacks; build the engine with the same roles.
 *
 * @throws {@link CallgateError} `invalid-argument` if it is not a recording.
 */
export function createRecordedHost(recording: Recording): Host {
  return reading("recording", () => {
    const isObject = typeof recording === "object" && recording !== null;
    const exchanges: unknown = isObject ? member(recording, "exchanges") : undefined;
    if (!Array.isArray(exchanges)) {
      throw new CallgateError("invalid-argument", "found no `exchanges`, expected a recording");
    }
    const { homeDir, currentDir } = directoriesOf(recording as unknown as Host);
    const ignoresPathCase = member(recording, "ignoresPathCase") ?? false;
    if (typeof ignoresPathCase !== "boolean") {
      throw new CallgateError("invalid-argument", "`ignoresPathCase` of the recording is not a boolean");
    }
    const answers = new Map<string, unknown>(
      exchanges.map((exchange: Exchange | null | undefined, at) => {
        if (typeof exchange !== "object" || exchange === null) {
          throw new CallgateError("invalid-argument", `exchanges[${at}] is not an object`);
        }
        return [keyOf(exchange), member(exchange, "answer")];
      }),
    );
    const answer = (question: Omit<Exchange, "answer"> & { ask: string }): unknown => {
      const key = keyOf(question);
      if (!answers.has(key)) {
        throw new HostError(`the recording holds no answer to ${key}`);
      }
      return answers.get(key);
    };
    const given = <T>(name: string, question: { ask: string; [argument: string]: string }): T => {
      const found = answer(question);
      if (typeof found === "object" && found !== null) {
        if (Object.hasOwn(found, name)) {
          return (found as Record<string, T>)[name] as T;
        }
        if (Object.hasOwn(found, "failed")) {
          throw new HostError(String((found as { failed: unknown }).failed));
        }
      }
      throw new HostError(`the recording answers ${keyOf(question)} with ${JSON.stringify(found)}`);
    };
    return Object.freeze({
      homeDir,
      currentDir,
      ignoresPathCase,
      realpath(path: string): string | RealpathFailure {
        const error = FAILURES.get(answer({ ask: "realpath", path }));
        return error === undefined ? given<string>("path", { ask: "realpath", path }) : { error };
      },
      readLink: (path: string) => given<string | null>("link", { ask: "readLink", path }) ?? undefined,
      isDirectory: (path: string) => given<boolean | null>("directory", { ask: "isDirectory", path }) ?? undefined,
      gitRemoteUrls: (repo: string, remote: string) => given<string[]>("urls", { ask: "gitRemoteUrls", repo, remote }),
      gitDefaultRemoteUrls: (repo: string) => given<string[]>("urls", { ask: "gitDefaultRemoteUrls", repo }),
      gitUrl: (repo: string, url: string) => given<string[]>("urls", { ask: "gitUrl", repo, url }),
      gitBranch: (repo: string) => given<string>("text", { ask: "gitBranch", repo }),
      gitPushRefs: (repo: string, remote: string, reference: string) =>
        given<string[] | null>("refs", { ask: "gitPushRefs", repo, remote, reference }) ?? undefined,
      gitCheckIgnore: (path: string) => given<GitIgnore | null>("ignore", { ask: "gitCheckIgnore", path }) ?? undefined,
      condition: (name: string, subject: string) => given<boolean>("holds", { ask: "condition", name, subject }),
    });
  });
}

/** A question as JSON text: its members in alphabetical order, without the answer. */
function keyOf(question: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(question).filter(([name]) => name !== "answer");
  return JSON.stringify(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}
