"""The component in Python, by `wasmtime` of PyPI: one engine, over a host of one's own.

A host is an object with `home_dir`, `current_dir`, and methods named as in `wasm/wit/callgate.wit` with `_` for `-`. Of `realpath` an
`OSError` says why there is no path. `None` is no link, an unknown answer, or refs that cannot be told. Whatever else is raised, or is of
another type, is a failure of the host, which denies the call.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker, Record, Variant

PACKAGE = "callgate:gate/{}@0.1.0"
ERRORS = {
    errno.ENOENT: "not-found", errno.ENOTDIR: "not-found", errno.ELOOP: "too-many-links", errno.EACCES: "denied", errno.EPERM: "denied",
    errno.EILSEQ: "not-utf8",
}
PREPARED = Variant("prepared")


class Refused(Exception):
    """Documents or a call that the engine does not take; the text says why, for documents as JSON."""


def record(**members: Any) -> Record:
    made = Record()
    for name, value in members.items():
        setattr(made, name.replace("_", "-"), value)
    return made


class Gate:
    """An engine in an instance of its own. What is raised, but for `Refused`, ends the instance: deny the call, and make another gate."""

    def __init__(self, compiled: Component, engine: Engine, host: Any, documents: Mapping[str, str]) -> None:
        linker = Linker(engine)
        with linker.root() as root:
            with root.add_instance(PACKAGE.format("types")):
                pass
            with root.add_instance(PACKAGE.format("host")) as imported:
                for name, function in functions(host).items():
                    imported.add_func(name, function)
        self.store = Store(engine)
        self.instance = linker.instantiate(self.store, compiled)
        self.exports = self.instance.get_export_index(self.store, PACKAGE.format("engine"))
        self.functions: dict[str, Any] = {}
        given = [record(name=name, text=text) for name, text in documents.items()]
        self.engine = self.call("[static]engine.load", given)
        if isinstance(self.engine, str):
            raise Refused(self.engine)

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of the interface `engine`."""
        if name not in self.functions:
            index = self.instance.get_export_index(self.store, name, self.exports)
            self.functions[name] = self.instance.get_func(self.store, index)
        answer = self.functions[name](self.store, *arguments)
        self.functions[name].post_return(self.store)
        return answer

    def ask(self, name: str, *arguments: Any) -> Any:
        """Calls a method of the engine."""
        return self.call(f"[method]engine.{name}", self.engine, *arguments)

    def judge(
        self, call: str, *, context: str | None = None, paths: Variant = Variant("gate"), explain: str | None = None, approvals: Any = None
    ) -> Record:
        """Judges a call, `{"serverName", "toolName", "arguments"}`: a record as `response` of the contract."""
        answer = self.ask("judge", record(call=call, context=context, paths=paths, explain=explain, approvals=approvals))
        if answer.tag == "err":
            raise Refused(f"line {answer.payload.line}, column {answer.payload.column}: {answer.payload.message}")
        response: Record = answer.payload
        return response

    def gate(self, server: str, tool: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        """The decision, the reason, and the arguments to send where the decision is `allow`."""
        response = self.judge(json.dumps({"serverName": server, "toolName": tool, "arguments": dict(arguments)}))
        sent = getattr(response, "arguments")
        return response.verdict.decision.tag, response.verdict.reason, None if sent is None else json.loads(sent)


def functions(host: Any) -> dict[str, Callable[..., Any]]:
    """The functions of the interface `host`."""

    def answered(method: str, kind: str, is_answer: Callable[[Any], bool]) -> Callable[..., Any]:
        def ask(_: Any, *given: Any) -> Any:
            try:
                answer = getattr(host, method)(*given)
            except Exception as error:
                return record(message=str(error))
            return answer if is_answer(answer) else record(message=f"{method} returned {answer!r}, expected {kind}")

        return ask

    def realpath(_: Any, path: str) -> Variant:
        try:
            real = host.realpath(path)
        except OSError as error:
            return Variant(ERRORS.get(error.errno or 0, "other"))
        except Exception as error:
            return Variant("failed", record(message=str(error)))
        if not isinstance(real, str):
            return Variant("failed", record(message=f"realpath returned {real!r}, expected str"))
        if not is_text(real):
            return Variant("not-utf8")
        return Variant("unchanged") if real == path else Variant("at", real)

    def is_directory(_: Any, path: str) -> Variant:
        answer = answered("is_directory", "bool", lambda answer: answer is None or isinstance(answer, bool))(_, path)
        tag = {None: "unknown", True: "yes", False: "no"}
        return Variant("failed", answer) if isinstance(answer, Record) else Variant(tag[answer])

    def git_check_ignore(_: Any, path: str) -> Variant:
        words = ("ignored", "included", "unmentioned")
        answer = answered("git_check_ignore", " or ".join(words), lambda answer: answer is None or answer in words)(_, path)
        return Variant("failed", answer) if isinstance(answer, Record) else Variant(answer or "unknown")

    texts = ("a list of str", lambda answer: isinstance(answer, list) and all(map(is_text, answer)))
    return {
        "home-dir": lambda _: host.home_dir,
        "current-dir": lambda _: host.current_dir,
        "ignores-path-case": lambda _: getattr(host, "ignores_path_case", True),
        "realpath": realpath,
        "read-link": answered("read_link", "str", lambda answer: answer is None or is_text(answer)),
        "is-directory": is_directory,
        "git-remote-urls": answered("git_remote_urls", *texts),
        "git-default-remote-urls": answered("git_default_remote_urls", *texts),
        "git-url": answered("git_url", *texts),
        "git-branch": answered("git_branch", "str", is_text),
        "git-push-refs": answered("git_push_refs", texts[0], lambda answer: answer is None or texts[1](answer)),
        "git-check-ignore": git_check_ignore,
        "role-value": answered("role_value", "str", is_text),
        "condition": answered("condition", "bool", lambda answer: isinstance(answer, bool)),
    }


def is_text(value: Any) -> bool:
    """Returns `True` if a value is text that UTF-8 can say."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def compile_component(path: str | PathLike[str]) -> tuple[Component, Engine]:
    """Compiles the component, which takes seconds: once a process."""
    engine = Engine()
    return Component.from_file(engine, path), engine
