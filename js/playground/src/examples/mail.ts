import type { State } from "../state.js";
import { pretty, scenario } from "./calls.js";

const bundle = `// Mail and shared documents. Addresses are data, not resources: rules list them.
{
  "policy": {
    "rules": [
      {
        "name": "no-public-links",
        "if": { "lists": [{ "roles": "share-permission", "allowed": ["anyone"], "matchType": "identifiers" }] },
        "then": "deny",
        "reason": "Nothing is shared with everybody"
      },
      {
        "name": "never-to-the-press",
        "if": { "tool": "send_email", "lists": [{ "roles": "email-address", "allowed": ["tips@press.example"], "matchType": "emails" }] },
        "then": "deny",
        "reason": "The press office speaks with the press"
      },
      {
        "name": "write-to-the-team",
        "if": { "tool": "send_email", "lists": [{ "roles": "email-address", "allowed": ["@team"], "matchType": "emails" }] },
        "then": "allow",
        "reason": "The team may be written to"
      },
      {
        "name": "ask-before-sending",
        "if": { "tool": "send_email" },
        "then": "escalate",
        "reason": "A person sees what leaves the house"
      },
      { "name": "drafts-and-search", "if": { "tool": ["draft_email", "search_*"] }, "then": "allow", "reason": "Nothing is sent" },
      {
        "name": "ask-before-sharing",
        "if": { "tool": "share_file" },
        "then": "escalate",
        "reason": "A person decides who sees a document"
      }
    ],
    "listDefinitions": [{ "name": "team", "type": "emails" }]
  },
  "lists": {
    "lists": {
      "team": { "values": ["ann@acme.example", "bob@acme.example"], "manualAdditions": [], "manualRemovals": [] }
    }
  },
  "annotations": {
    "servers": {
      "google-workspace": {
        "tools": [
          {
            "toolName": "send_email",
            "comment": "Sends a message at once.",
            "args": { "to": "email-address", "subject": "none", "body": "email-body" },
            "inputSchema": {
              "type": "object",
              "properties": { "to": { "type": "array", "items": { "type": "string" } }, "subject": { "type": "string" }, "body": { "type": "string" } },
              "required": ["to"]
            }
          },
          {
            "toolName": "draft_email",
            "comment": "Keeps a message for later.",
            "args": { "to": "email-address", "subject": "none", "body": "email-body" }
          },
          { "toolName": "search_mail", "comment": "Searches the mailbox.", "args": { "query": "none" } },
          {
            "toolName": "share_file",
            "comment": "Lets others see a document.",
            "args": { "fileId": "none", "role": "none", "with": "share-permission" },
            "inputSchema": {
              "type": "object",
              "properties": { "fileId": { "type": "string" }, "role": { "enum": ["reader", "writer"] }, "with": { "enum": ["user", "domain", "anyone"] } }
            }
          }
        ]
      }
    }
  }
}
`;

const send = (to: readonly string[]) => ({
  serverName: "google-workspace",
  toolName: "send_email",
  arguments: { to, subject: "Friday", body: "At noon?" },
});
const share = (others: string) => ({
  serverName: "google-workspace",
  toolName: "share_file",
  arguments: { fileId: "1Bx", role: "reader", with: others },
});

const state: State = {
  files: { "callgate.json": bundle },
  machine: pretty({ home: "/home/u", cwd: "/home/u" }),
  call: pretty(send(["ann@acme.example", "eve@elsewhere.example"])),
  scenarios: [
    scenario("to a colleague", "allow", "write-to-the-team", send(["ann@acme.example"])),
    scenario(
      "one of two is a stranger",
      "escalate",
      "ask-before-sending",
      send(["ann@acme.example", "eve@elsewhere.example"]),
    ),
    scenario("hidden behind a display name", "deny", "never-to-the-press", send(["Ann <TIPS@press.example>"])),
    scenario("a public link", "deny", "no-public-links", share("Anyone")),
    scenario("a link for one person", "escalate", "ask-before-sharing", share("user")),
  ],
};

export default state;
