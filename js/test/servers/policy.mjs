// The policy that the servers of these tests are behind, and everything else that the engine is built from.
import { readFileSync } from "node:fs";
import { SDK_ANNOTATIONS } from "./cases/sdk.mjs";

const annotationsOf = (server) => JSON.parse(readFileSync(new URL(`annotations/${server}.json`, import.meta.url)));

const ANNOTATIONS = {
  servers: {
    ...Object.fromEntries(["filesystem", "everything", "git", "fetch"].map((name) => [name, annotationsOf(name)])),
    sdk: SDK_ANNOTATIONS,
  },
};

/** Rules in short form: a name, an effect, conditions. */
const rulesFor = ({ at }) => [
  ["nobody switches main", "deny", { server: ["git"], lists: [list("branch-name", "identifiers", "main", "release")] }],
  [
    "nobody writes to rivals",
    "deny",
    { server: ["sdk"], lists: [list("email-address", "emails", "mallory@rival.example", "eve@example.com")] },
  ],
  ["no tracker", "deny", { domains: { roles: ["fetch-url"], allowed: ["tracker.docs.example"] } }],
  ["read the documents", "allow", { paths: { roles: ["read-path"], within: at("docs") } }],
  ["work on the bench", "allow", { paths: { roles: ["read-path", "write-path", "delete-path"], within: at("bench") } }],
  [
    "use the repositories",
    "allow",
    { server: ["git"], paths: { roles: ["read-path", "write-path", "write-history"], within: at("repos") } },
  ],
  ["ask about drafts", "escalate", { paths: { roles: ["read-path", "write-path"], within: at("drafts") } }],
  [
    "known sites",
    "allow",
    {
      server: ["fetch"],
      domains: { roles: ["fetch-url"], allowed: ["docs.example", "*.docs.example", "münchen.example"] },
    },
  ],
  ["ask about sites", "escalate", { server: ["fetch"], domains: { roles: ["fetch-url"], allowed: ["ask.example"] } }],
  ["the local site", "allow", { server: ["everything"], domains: { roles: ["fetch-url"], allowed: ["127.0.0.1"] } }],
  ["harmless tools", "allow", { server: ["everything"], tool: HARMLESS }],
  ["ask before waiting", "escalate", { server: ["everything"], tool: ["trigger-long-running-operation"] }],
  ["harmless tools of the SDK", "allow", { server: ["sdk"], tool: ["send", "note"] }],
];

const HARMLESS = [
  "echo",
  "get-annotated-message",
  "get-resource-links",
  "get-resource-reference",
  "get-structured-content",
  "get-sum",
  "get-tiny-image",
  "simulate-research-query",
];

const list = (role, matchType, ...allowed) => ({ roles: [role], allowed, matchType });

export function configuration({ tree }) {
  const { at } = tree;
  const rules = rulesFor(tree).map(([name, effect, conditions]) => ({
    name,
    description: "",
    principle: "",
    if: conditions,
    then: effect,
    reason: name,
  }));
  return {
    policy: { generatedAt: "", constitutionHash: "", inputHash: "", rules },
    annotations: { generatedAt: "", ...ANNOTATIONS },
    sandbox: at("sandbox"),
    protectedPaths: [
      at("secret"),
      at("sandbox/keys"),
      at("sandbox/token.txt"),
      at("sandbox/kéy.txt"),
      at("repos/app/key.txt"),
      "~/.ssh",
    ],
  };
}
