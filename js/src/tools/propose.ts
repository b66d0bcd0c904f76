import * as wasm from "../../wasm/tools.js";
import { jsonText } from "../api/json.js";
import { checkedText } from "../api/text.js";
import type { AnnotationsProposal, StoredToolAnnotationsFile, ToolsList } from "../types.js";
import { within } from "./module.js";

/**
 * Drafts annotations for the tools of a server, from what it says of them. Everything in `existing`, the annotations that
 * there are, is kept.
 *
 * @param tools The server's answer to MCP's `tools/list`: the reply, its `result`, or the array of tools. It may be JSON text.
 * @param serverName The server's name in the annotations and in calls.
 * @throws {@link CallgateError} `invalid-document` if a document cannot be read.
 */
export function proposeAnnotations(
  tools: ToolsList | string,
  serverName: string,
  existing?: StoredToolAnnotationsFile<string> | string,
): AnnotationsProposal {
  const list = jsonText(tools, "tools");
  const name = checkedText(serverName, "serverName");
  const document = existing === undefined ? undefined : jsonText(existing, "existing");
  return JSON.parse(within("invalid-document", () => wasm.proposeAnnotations(list, name, document)));
}
