"""The component by wasmtime-py under the conformance suite: a line of standard input is a batch, a line of standard output its outcomes.

`tests/src/subject.rs` has the format. Machines are those of Python's module, which is on Python's path, as is `misbehaving.py`.
"""

from __future__ import annotations

import json
import sys
import traceback
from datetime import datetime
from typing import Any

import environment

environment.enter()

from callgate import HostError, recorded_host, virtual_host
from misbehaving import Misbehaving
from wasmtime.component import Variant

from callgate_component import Gate, Refused, compile_component, record

PREPARED, EMPTY = "prepared", '{"format": "approvals/1", "entries": []}'
COMPILED = compile_component(environment.COMPONENT)


def parsed(text: Any) -> Any:
    return None if text is None else json.loads(text)


def verdict_of(verdict: Any) -> dict[str, Any]:
    roles, approval = verdict.decision.payload, verdict.approval
    told = {"decision": verdict.decision.tag, "rule": verdict.rule, "reason": verdict.reason}
    return told | ({"escalatedRoles": roles} if roles else {}) | ({} if approval is None else {"approval": approval})


def moment(now: Any) -> Any:
    return round(datetime.fromisoformat(now.replace("Z", "+00:00")).timestamp() * 1000) if isinstance(now, str) else now


def worded(fault: Any) -> str:
    help_ = f" (help: {fault['help']})" if fault.get("help") else ""
    return f"{fault['severity']}[{fault['code']}] at {fault['path']}: {fault['message']}{help_}"


class Session:
    """One batch's host and gate."""

    def __init__(self, batch: dict[str, Any]) -> None:
        self.gate: Gate | None = None
        self.refusal: Exception = Refused("the batch has no engine")
        surroundings = batch["surroundings"]
        if "recording" in surroundings:
            self.host: Any = recorded_host(surroundings["recording"])
        else:
            machine = dict(surroundings["machine"])
            realpath = machine.pop("realpath", None)
            self.host = virtual_host(machine)
            if realpath is not None:
                self.host = Misbehaving(self.host, realpath, self.reenter)
        if batch["engine"] is not None:
            self.build(batch["engine"])

    def build(self, documents: dict[str, str]) -> None:
        self.gate, self.documents = None, documents
        try:
            self.gate = Gate(*COMPILED, self.host, documents)
        except Refused as error:
            self.refusal = error

    def reenter(self, request: dict[str, Any]) -> None:
        """An instance cannot be called while it asks its host, so another one judges the call."""
        Gate(*COMPILED, self.host, self.documents).judge(json.dumps(request), paths=Variant(PREPARED))

    def needed(self) -> Gate:
        if self.gate is None:
            raise Refused(str(self.refusal))
        return self.gate

    def evaluate(self, text: str, times: int) -> Any:
        told = [verdict_of(self.needed().judge(text, paths=Variant(PREPARED)).verdict) for _ in range(times)]
        return next((verdict for verdict in told if verdict != told[0]), told[0])

    def world(self, question: dict[str, Any]) -> Any:
        if question["ask"] == "diagnostics":
            faults = json.loads(str(self.refusal) if self.gate is None else self.gate.ask("warnings"))
            return [{name: fault.get(name) for name in ("code", "severity", "path", "line", "column")} for fault in faults]
        gate, context = self.needed(), question.get("context")
        match question["ask"]:
            case "resolve":
                table = gate.ask("references")
                found = gate.ask("resolve", table, question["address"], question.get("requireExists", True), context)
                path = None if found.reference is None else gate.call("[method]references.host-path", table, found.reference)
                return {"reply": json.loads(found.reply), "hostPath": path}
            case "enforce":
                names = ("mode", "tool", "command", "root", "subdirectory", "address")
                answer = gate.ask("enforce", record(**{name: question.get(name) for name in names}), context)
                return json.loads(answer.payload) if answer.tag == "ok" else self.refuse(answer.payload)
            case "gate":
                response = gate.judge(question["request"], context=context, explain="agent")
                return self.gated(response) | {"explanation": parsed(response.explanation)}
            case "evaluate":
                response = gate.judge(question["request"], context=context, paths=Variant(PREPARED), explain="operator")
                return {"verdict": verdict_of(response.verdict), "explanation": parsed(response.explanation)}
            case "references":
                return self.references(question["steps"])
        raise ValueError(f"unknown question {question['ask']}")

    def gated(self, response: Any) -> dict[str, Any]:
        return {"verdict": verdict_of(response.verdict), "argsForTransport": parsed(getattr(response, "arguments"))}

    def refuse(self, why: Any) -> Any:
        raise Refused(str(why))

    def references(self, steps: list[Any]) -> list[Any]:
        gate = self.needed()
        table, given = gate.ask("references"), []

        def take(step: Any) -> Any:
            if step == "revokeAll":
                return gate.call("[method]references.revoke-all", table)
            ((name, operand),) = step.items()
            if name == "resolve":
                found = gate.ask("resolve", table, operand[0], True, json.dumps({"mode": operand[1]}))
                given.extend([] if found.reference is None else [found.reference])
                return json.loads(found.reply)["code"]
            if operand >= len(given):
                return None if name == "hostPath" else False
            return gate.call(f"[method]references.{'host-path' if name == 'hostPath' else 'revoke'}", table, given[operand])

        return [take(step) for step in steps]

    def approved(self, asked: dict[str, Any]) -> Any:
        gate, paths, context = self.needed(), Variant("gate", asked["containerWorkspaceDir"]), asked["context"]

        def offered(call: str) -> Any:
            offer = gate.ask("offer", record(call=call, context=context, paths=paths, explain=None, approvals=None))
            return parsed(offer) if offer is None or isinstance(offer, str) else self.refuse(offer.message)

        document = json.loads(asked["approvals"] or EMPTY)
        offer = None if asked["offeredFor"] is None else offered(asked["offeredFor"])
        document["entries"] += [] if offer is None else [{"id": "approval-1", **offer}]
        # An explanation says of a call that escalates whether approvals were looked at.
        is_without = asked["ask"] == "explainGate" and not document["entries"]
        approvals = None if is_without else record(document=json.dumps(document), now=moment(asked["now"]))
        if asked["ask"] == "offer":
            return offered(asked["request"])
        place = Variant(PREPARED) if asked["ask"] == "evaluate" else paths
        explain = "agent" if asked["ask"] == "gate" else "operator"
        response = gate.judge(asked["request"], context=context, paths=place, explain=explain, approvals=approvals)
        sent = self.gated(response) if asked["ask"] == "gate" else {"verdict": verdict_of(response.verdict)}
        return sent | {"explanation": parsed(response.explanation)}

    def answer(self, operation: dict[str, Any]) -> Any:
        match operation["op"]:
            case "construct":
                self.needed()
                return None
            case "replace":
                self.build(operation["engine"])
                self.needed()
                return None
            case "evaluate":
                return self.evaluate(operation["request"], operation["times"])
            case "evaluateText":
                return self.evaluate(operation["text"], 1)
            case "gate":
                return self.gated(self.needed().judge(operation["request"], paths=Variant("gate", operation["containerWorkspaceDir"])))
            case "explain":
                return parsed(self.needed().judge(operation["request"], paths=Variant(PREPARED), explain="operator").explanation)
            case "semantics":
                return parsed(self.needed().ask("semantics", record(server=operation["server"], name=operation["tool"])))
            case "diagnostics":
                return [worded(warning) for warning in json.loads(self.needed().ask("warnings"))]
            case "world":
                return self.world(operation)
            case "approved":
                return self.approved(operation)
        raise ValueError(f"unknown operation {operation['op']}")

    def guarded(self, operation: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"answer": self.answer(operation)}
        except (Refused, HostError) as error:
            return {"refused": str(error)}
        except BaseException:
            return {"fault": traceback.format_exc()}


def outcomes(batch: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        session = Session(batch)
    except Exception:
        return [{"fault": traceback.format_exc()} for _ in batch["operations"]]
    return [session.guarded(operation) for operation in batch["operations"]]


for line in sys.stdin:
    print(json.dumps(outcomes(json.loads(line))), flush=True)
