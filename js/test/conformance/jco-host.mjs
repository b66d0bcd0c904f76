// A host of the package as the functions that a component imports. An answer of the wrong type is a failure.

const ERRNO = new Map([
  ["ENOENT", "not-found"],
  ["ENOTDIR", "not-found"],
  ["ELOOP", "too-many-links"],
  ["EACCES", "denied"],
  ["EPERM", "denied"],
  ["EILSEQ", "not-utf8"],
]);

const FAILURES = new Map([
  ["not-found", "not-found"],
  ["loop", "too-many-links"],
  ["denied", "denied"],
  ["not-utf8", "not-utf8"],
  ["other", "other"],
]);

const isText = (answer) => typeof answer === "string" && answer.isWellFormed();
const isTexts = (answer) => Array.isArray(answer) && answer.every(isText);

/** The value that jco expects to be thrown for the error of a `result`. */
const failure = (payload) => Object.assign(new Error(), { payload });

function shown(value) {
  if (typeof value?.then === "function") {
    return " a promise";
  }
  return value === undefined ? " nothing" : ` ${JSON.stringify(value)}`;
}

function said(thrown) {
  if (thrown instanceof Error) {
    return thrown.message === "" ? "" : `: ${thrown.message}`;
  }
  return thrown === undefined ? "" : ` ${JSON.stringify(thrown)}`;
}

const messageOf = (name, thrown) => (thrown?.name === "HostError" ? thrown.message : `${name} threw${said(thrown)}`);

/** The answer of a callback, if it has the right type. */
function asked(name, ask, isAnswer, expected, failed) {
  let answer;
  try {
    answer = ask();
  } catch (thrown) {
    throw failed(thrown);
  }
  if (!isAnswer(answer)) {
    throw failed(
      Object.assign(new Error(`${name} answered${shown(answer)}, expected ${expected}`), { name: "HostError" }),
    );
  }
  return answer;
}

/** The variant of an answer that may be absent and may fail. */
function answered(ask, present, absent) {
  try {
    const answer = ask();
    return answer === undefined ? { tag: absent } : present(answer);
  } catch (thrown) {
    return { tag: "failed", val: thrown.payload };
  }
}

/** The functions of the interface `host`. */
export function importsOf(host) {
  const plain = (name) => (thrown) => failure({ message: messageOf(name, thrown) });
  const texts = (name, ask) => [...asked(name, ask, isTexts, "an array of texts", plain(name))];
  return {
    homeDir: () => host.homeDir,
    currentDir: () => host.currentDir,
    ignoresPathCase: () => host.ignoresPathCase ?? true,
    realpath(path) {
      const failed = (thrown) => {
        if (thrown instanceof Error && typeof thrown.code === "string") {
          return failure({ tag: ERRNO.get(thrown.code) ?? "other" });
        }
        return failure({ tag: "failed", val: { message: messageOf("realpath", thrown) } });
      };
      const isAnswer = (answer) => isText(answer) || FAILURES.has(answer?.error);
      try {
        const answer = asked("realpath", () => host.realpath(path), isAnswer, "a text", failed);
        if (typeof answer !== "string") {
          return { tag: FAILURES.get(answer.error) };
        }
        return answer === path ? { tag: "unchanged" } : { tag: "at", val: answer };
      } catch (thrown) {
        return thrown.payload;
      }
    },
    readLink(path) {
      const isAnswer = (answer) => answer === undefined || isText(answer);
      const ask = () => asked("readLink", () => host.readLink(path), isAnswer, "a text", plain("readLink"));
      return answered(ask, (target) => ({ tag: "to", val: target }), "absent");
    },
    isDirectory(path) {
      const isAnswer = (answer) => answer === undefined || typeof answer === "boolean";
      const ask = () => asked("isDirectory", () => host.isDirectory(path), isAnswer, "a boolean", plain("isDirectory"));
      return answered(ask, (is) => ({ tag: is ? "yes" : "no" }), "unknown");
    },
    gitRemoteUrls: (repo, remote) => texts("gitRemoteUrls", () => host.gitRemoteUrls(repo, remote)),
    gitDefaultRemoteUrls: (repo) => texts("gitDefaultRemoteUrls", () => host.gitDefaultRemoteUrls(repo)),
    gitUrl: (repo, url) => texts("gitUrl", () => host.gitUrl(repo, url)),
    gitBranch: (repo) => asked("gitBranch", () => host.gitBranch(repo), isText, "a text", plain("gitBranch")),
    gitPushRefs(repo, remote, reference) {
      const isAnswer = (answer) => answer === undefined || isTexts(answer);
      const given = () => host.gitPushRefs(repo, remote, reference);
      const ask = () => asked("gitPushRefs", given, isAnswer, "an array of texts", plain("gitPushRefs"));
      return answered(ask, (refs) => ({ tag: "known", val: [...refs] }), "unknown");
    },
    gitCheckIgnore(path) {
      const isAnswer = (answer) => [undefined, "ignored", "included", "unmentioned"].includes(answer);
      const given = () => host.gitCheckIgnore(path);
      const ask = () => asked("gitCheckIgnore", given, isAnswer, "a word of its own", plain("gitCheckIgnore"));
      return answered(ask, (said) => ({ tag: said }), "unknown");
    },
    condition(name, subject) {
      const isAnswer = (answer) => typeof answer === "boolean";
      return asked(
        "condition",
        () => host.condition?.(name, subject) ?? false,
        isAnswer,
        "a boolean",
        plain("condition"),
      );
    },
    roleValue(role, step) {
      const name = step === "canonicalize" ? "canonicalize" : "extractPolicyValue";
      throw failure({ message: `the host has no callback \`${name}\` for the role \`${role}\`` });
    },
  };
}
