// The servers of a working day: how each is started, and for which of them there is nothing to speak to.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHROMIUM, TARGET } from "../../tools/hosts.mjs";
import { whyNotInstalled } from "../clients/install.mjs";
import { PYTHON, VENV, whyNoPython } from "../programs.mjs";
import { GIT } from "./project.mjs";

const FOLDER = `${TARGET}/mcp-workday`;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const ours = (name) => ["node", here(`../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`)];
const npm = (name) => ["node", join(FOLDER, "node_modules", name)];
const official = (name) => npm(`@modelcontextprotocol/${name}/dist/index.js`);
const chromium = () => CHROMIUM.map((name) => `/usr/bin/${name}`).find(existsSync);

/** Each server's command in a project, and what is added to its environment. */
export const SERVERS = {
  filesystem: ({ repo }) => [[...ours("server-filesystem"), repo]],
  everything: () => [[...ours("server-everything"), "stdio"]],
  git: () => [[PYTHON, "-m", "mcp_server_git"]],
  fetch: ({ network }) => [[PYTHON, "-m", "mcp_server_fetch", "--ignore-robots-txt", "--proxy-url", network.origin]],
  memory: ({ home }) => [official("server-memory"), { MEMORY_FILE_PATH: join(home, "memory.jsonl") }],
  "sequential-thinking": () => [official("server-sequential-thinking")],
  playwright: () => [
    [...npm("@playwright/mcp/cli.js"), "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium()],
  ],
  "desktop-commander": () => [npm("@wonderwhy-er/desktop-commander/dist/index.js")],
  gitlab: ({ network }) => [
    official("server-gitlab"),
    { GITLAB_PERSONAL_ACCESS_TOKEN: "none", GITLAB_API_URL: `${network.origin}/api/v4` },
  ],
  github: () => [official("server-github"), { GITHUB_PERSONAL_ACCESS_TOKEN: "none" }],
  slack: () => [official("server-slack"), { SLACK_BOT_TOKEN: "none", SLACK_TEAM_ID: "T0" }],
  notion: () => [npm("@notionhq/notion-mcp-server/bin/cli.mjs"), { NOTION_TOKEN: "none" }],
  time: () => [[PYTHON, "-m", "mcp_server_time", "--local-timezone", "UTC"]],
  excel: () => [[`${VENV}/bin/excel-mcp-server`, "stdio"]],
  tasks: ({ home }) => [npm("@kazuph/mcp-taskmanager/dist/index.js"), { TASK_MANAGER_FILE_PATH: join(home, "t.json") }],
  drawio: () => [npm("drawio-mcp/dist/index.js")],
  fastfs: ({ repo }) => [[...npm("fast-filesystem-mcp/dist/index.js"), repo]],
  bank: ({ repo }) => [npm("@allpepper/memory-bank-mcp/dist/main/index.js"), { MEMORY_BANK_ROOT: join(repo, "bank") }],
};

/** They have no account, and the machine of the tests no network: both ways end with the same error. */
export const UNCONNECTED = ["github", "slack", "notion"];

/** Servers whose calls are only judged, by the tools that they were recorded to have. */
export const JUDGED = {
  gitx: "tools/gitx.json",
  shell: "tools/shell.json",
  textedit: "tools/textedit.json",
  archive: "tools/archive.json",
  image: "tools/image.json",
  sqlite: "tools/sqlite.json",
  kubernetes: "../../../../tests/drafts/second/tools/kubernetes.json",
  email: "tools/email.json",
  "chrome-devtools": "../../../../tests/drafts/tools/chrome-devtools.json",
};

export const toolsOf = (name) => JSON.parse(readFileSync(here(JUDGED[name]), "utf8")).tools;

/** The environment of every server. */
export const environmentOf = ({ home }) => ({ PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", TZ: "UTC", ...GIT });

/** Why the servers cannot be had, or nothing if they can. They are installed if they are missing. */
export function whyNoServers() {
  if (chromium() === undefined) return `${CHROMIUM[0]} is missing`;
  return whyNotInstalled(here("."), FOLDER) ?? whyNoPython();
}
