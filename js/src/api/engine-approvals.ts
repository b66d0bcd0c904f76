import * as wasm from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { members, reading } from "../members.js";
import type { Approval, ApprovalsDocument, EngineApprovals } from "../types.js";
import { offer } from "../wasm/calls.js";
import type { WasmHandle } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { jsonText } from "./json.js";

const NONE = '{"format":"approvals/1","entries":[]}';

/** The approvals of an engine. */
export function approvalsOf(handle: WasmHandle): EngineApprovals {
  let entries: readonly Approval[] = Object.freeze([]);
  const keep = (document: string): void => {
    entries = frozen((JSON.parse(document) as ApprovalsDocument).entries);
    handle.approvals = entries.length === 0 ? undefined : document;
  };
  const document = (): ApprovalsDocument => ({ format: "approvals/1", entries });
  return Object.freeze<EngineApprovals>({
    offer: (call, verdict, options) => {
      if (typeof verdict !== "object" || verdict === null) {
        throw new CallgateError("invalid-argument", "the verdict is not an object");
      }
      const { decision, reason } = reading("verdict", () => members(verdict, ["decision", "reason"]));
      const offered = decision === "escalate" ? offer(handle, call, options) : undefined;
      return offered?.originalReason === reason ? offered : undefined;
    },
    add: (approved) => {
      const given = reading("approval", () => ({ createdAt: new Date().toISOString(), ...approved }));
      const text = jsonText(given, "approval");
      keep(within("invalid-document", () => wasm.addApproval(handle.approvals ?? NONE, text)));
      return (entries[entries.length - 1] as Approval).id;
    },
    remove: (id) => {
      const left = entries.filter((entry) => entry.id !== id);
      const isRemoved = left.length < entries.length;
      if (isRemoved) {
        keep(JSON.stringify({ ...document(), entries: left }));
      }
      return isRemoved;
    },
    list: () => entries,
    toJSON: document,
    fromJSON: (given) => {
      const text = jsonText(given, "approvals");
      keep(within("invalid-document", () => wasm.readApprovals(text)));
    },
  });
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
