// A component's explanation as JSON, with the members and the order that the other hosts give.

const QUESTIONS = {
  realpath: (path) => ({ ask: "realpath", path }),
  "read-link": (path) => ({ ask: "readLink", path }),
  "is-directory": (path) => ({ ask: "isDirectory", path }),
  "git-remote-urls": ({ repo, remote }) => ({ ask: "gitRemoteUrls", repo, remote }),
  "git-default-remote-urls": (repo) => ({ ask: "gitDefaultRemoteUrls", repo }),
  "git-url": ({ repo, url }) => ({ ask: "gitUrl", repo, url }),
  "role-value": ({ role, step, value }) => ({
    ask: "roleValue",
    role,
    step: step === "canonicalize" ? "canonicalize" : "extractPolicyValue",
    value,
  }),
  condition: ({ name, subject }) => ({ ask: "condition", name, subject }),
};

const NO_PATH = {
  "not-found": "notFound",
  "too-many-links": "loop",
  denied: "denied",
  "not-utf8": "notUtf8",
  other: "other",
};

function answerOf({ tag, val }) {
  switch (tag) {
    case "no-path":
      return NO_PATH[val];
    case "link":
    case "directory":
      return { [tag]: val ?? null };
    case "failed":
      return { failed: val.message };
    default:
      return { [tag]: val };
  }
}

const given = (name, value) => (value === undefined ? {} : { [name]: value });

/** The explanation, with `verdictOf` for its verdict. */
export function explained(explanation, verdictOf) {
  const { homeDir, currentDir, ignoresPathCase, exchanges } = explanation.recording;
  return {
    verdict: verdictOf(explanation.verdict),
    serverName: explanation.serverName,
    toolName: explanation.toolName,
    values: explanation.values.map(({ argument, role, raw, canonical }) => ({
      argument,
      role,
      raw,
      canonical: canonical ?? null,
    })),
    checks: explanation.checks.map(({ check, passed, detail }) => ({ check, passed, detail })),
    roles: explanation.roles.map(({ role, walks }) => ({
      role: role ?? null,
      walks: walks.map(({ alone, rules, effect, rule }) => ({
        ...given("alone", alone),
        rules: rules.map((step) => ({
          rule: step.rule,
          effect: step.effect,
          holds: step.holds,
          ...given("condition", step.condition),
          detail: step.detail,
        })),
        decision: effect ?? "",
        rule,
      })),
    })),
    stepsLeftOut: explanation.stepsLeftOut,
    recording: {
      homeDir,
      currentDir,
      ...(ignoresPathCase ? { ignoresPathCase } : {}),
      exchanges: exchanges.map(({ question, answer }) => ({
        ...QUESTIONS[question.tag](question.val),
        answer: answerOf(answer),
      })),
    },
  };
}
