"""The module under the conformance suite: a line of standard input is a batch, a line of standard output its outcomes.

`tests/src/subject.rs` has the format.
"""

from __future__ import annotations

import json
import sys
import traceback
from datetime import datetime, timedelta, timezone
from typing import Any

from callgate import Approvals, CallgateError, DocumentError, Gate, recorded_host, virtual_host

from misbehaving import Misbehaving

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Refused(Exception):
    """An operation that has no answer although nothing is broken."""


def split(text: str) -> tuple[str, str, Any]:
    """The parts of a call. What has none cannot be given to a gate."""
    try:
        call = json.loads(text)
        server, tool = call["serverName"], call["toolName"]
    except (RecursionError, TypeError) as error:
        raise Refused(str(error)) from error
    if not (isinstance(server, str) and isinstance(tool, str)):
        raise Refused("a name is not text")
    return server, tool, call.get("arguments")


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def moment(now: Any) -> Any:
    return EPOCH + timedelta(milliseconds=now) if isinstance(now, int) else now


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

    def reenter(self, request: dict[str, Any]) -> None:
        if self.gate is not None:
            self.gate.evaluate(request["serverName"], request["toolName"], request.get("arguments"))

    def build(self, documents: dict[str, str]) -> None:
        self.gate = None
        try:
            given = {
                snake(name): json.loads(text) if name in ("sandbox", "folder") else text
                for name, text in documents.items()
            }
            self.gate = Gate(**given, host=self.host)
        except (CallgateError, TypeError) as error:
            self.refusal = error

    def needed(self) -> Gate:
        if self.gate is None:
            raise Refused(str(self.refusal))
        return self.gate

    def evaluate(self, text: str, times: int) -> Any:
        gate, call = self.needed(), split(text)
        first = gate.evaluate(*call)
        for _ in range(1, times):
            again = gate.evaluate(*call)
            if again != first:
                return again.to_dict()
        return first.to_dict()

    def gated(self, text: str, **options: Any) -> dict[str, Any]:
        response = self.needed().gate(*split(text), **options)
        return {"verdict": response.verdict.to_dict(), "argsForTransport": response.arguments}

    def world(self, question: dict[str, Any]) -> Any:
        if question["ask"] == "diagnostics":
            if self.gate is not None:
                found = self.gate.warnings
            else:
                found = self.refusal.diagnostics if isinstance(self.refusal, DocumentError) else []
            members = ("code", "severity", "path", "line", "column")
            hidden = {"line": None, "column": None}
            shown = [{name: one.get(name) for name in members} for one in found]
            return [one | hidden if one["path"] == "sandbox" else one for one in shown]
        gate = self.needed()
        context = question.get("context")
        options = {} if context is None else {"context": json.loads(context)}
        match question["ask"]:
            case "resolve":
                table = gate.references()
                required = question.get("requireExists", True)
                context = options.get("context", {})
                reply, reference = table.resolve(question["address"], context, require_exists=required)
                path = None if reference is None else table.host_path(reference)
                return {"reply": reply, "hostPath": path}
            case "enforce":
                return gate.enforce(question, **options)
            case "gate":
                answer = self.gated(question["request"], **options)
                answer["explanation"] = gate.explain(*split(question["request"]), audience="agent", **options)
                return answer
            case "evaluate":
                call = split(question["request"])
                verdict = gate.evaluate(*call, **options).to_dict()
                return {"verdict": verdict, "explanation": gate.explain(*call, prepared=True, **options)}
            case "references":
                return self.references(question["steps"])
        raise ValueError(f"unknown question {question['ask']}")

    def references(self, steps: list[Any]) -> list[Any]:
        table = self.needed().references()
        given: list[int] = []

        def take(step: Any) -> Any:
            if step == "revokeAll":
                return table.revoke_all()
            ((name, operand),) = step.items()
            if name == "resolve":
                reply, reference = table.resolve(operand[0], {"mode": operand[1]}, require_exists=True)
                given.extend([] if reference is None else [reference])
                return reply["code"]
            known = operand < len(given)
            if name == "hostPath":
                return table.host_path(given[operand]) if known else None
            return known and table.revoke(given[operand])

        return [take(step) for step in steps]

    def approved(self, asked: dict[str, Any]) -> Any:
        gate = self.needed()
        context = asked["context"]
        places = {
            "context": None if context is None else json.loads(context),
            "container_workspace_dir": asked["containerWorkspaceDir"],
        }
        text = asked["approvals"]
        approvals = Approvals() if text is None else Approvals.from_json(text)
        if asked["offeredFor"] is not None:
            offer = gate.offer(*split(asked["offeredFor"]), **places)
            if offer is not None:
                approvals.add(offer)
        now = asked["now"]
        # Without a time an approval that ends never applies; here the time would always be now.
        timed = now is not None or not any("expiresAt" in entry for entry in approvals.entries())
        time = moment(now) if timed else "9999-12-31T23:59:59Z"
        options = {**places, "approvals": approvals, "now": time}
        call = split(asked["request"])
        match asked["ask"]:
            case "offer":
                return gate.offer(*call, **places)
            case "gate":
                answer = self.gated(asked["request"], **options)
                answer["explanation"] = gate.explain(*call, audience="agent", **options)
                return answer
            case "explainGate":
                if len(approvals) == 0:
                    options["approvals"] = None
                verdict = gate.gate(*call, **options).verdict.to_dict()
                return {"verdict": verdict, "explanation": gate.explain(*call, **options)}
        del options["container_workspace_dir"]
        verdict = gate.evaluate(*call, **options).to_dict()
        return {"verdict": verdict, "explanation": gate.explain(*call, prepared=True, **options)}

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
                return self.needed().evaluate_text(operation["text"]).to_dict()
            case "gate":
                return self.gated(operation["request"], container_workspace_dir=operation["containerWorkspaceDir"])
            case "explain":
                return self.needed().explain(*split(operation["request"]), prepared=True)
            case "semantics":
                return self.needed().semantics(operation["server"], operation["tool"])
            case "diagnostics":
                return [worded(warning) for warning in self.needed().warnings]
            case "world":
                return self.world(operation)
            case "approved":
                return self.approved(operation)
        raise ValueError(f"unknown operation {operation['op']}")

    def guarded(self, operation: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"answer": self.answer(operation)}
        except (Refused, CallgateError) as error:
            return {"refused": str(error)}
        except BaseException:
            return {"fault": traceback.format_exc()}


def worded(warning: Any) -> str:
    help_ = f" (help: {warning['help']})" if warning.get("help") else ""
    return f"{warning['severity']}[{warning['code']}] at {warning['path']}: {warning['message']}{help_}"


def outcomes(batch: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        session = Session(batch)
    except Exception:
        return [{"fault": traceback.format_exc()} for _ in batch["operations"]]
    return [session.guarded(operation) for operation in batch["operations"]]


for line in sys.stdin:
    print(json.dumps(outcomes(json.loads(line))), flush=True)
