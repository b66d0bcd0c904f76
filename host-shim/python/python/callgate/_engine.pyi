from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, final

from ._host import Host

__version__: str

Decision: TypeAlias = Literal["allow", "escalate", "deny"]
Json: TypeAlias = Any
"""What JSON can say: dict, list, tuple, str, int, float, bool or None."""
Document: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""A document: JSON text, which may have comments, or the value that it stands for."""

class Diagnostic(TypedDict, total=False):
    code: str
    severity: Literal["error", "warning"]
    path: str
    line: int
    column: int
    message: str
    help: str
    file: str

class CallgateError(Exception):
    """Every error of this package."""

class DocumentError(CallgateError):
    """Documents are refused."""

    diagnostics: list[Diagnostic]

class CallError(CallgateError):
    """What was given is not a call: no JSON, or of another shape."""

class HostError(CallgateError):
    """Raised by a host that cannot answer. The call is denied, and the message is in the reason."""

class ArrowStream(Protocol):
    """A table, or a stream of batches, of any package that has Arrow's C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class ArrowBatch(Protocol):
    """A record batch of any package that has Arrow's C data interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class BuiltinHost:
    """A host that is built in. A host of your own may hand it what it does not answer itself."""

    @property
    def home_dir(self) -> str: ...
    @property
    def current_dir(self) -> str: ...
    @property
    def ignores_path_case(self) -> bool: ...
    def realpath(self, path: str) -> str: ...
    def read_link(self, path: str) -> str | None: ...
    def is_directory(self, path: str) -> bool | None: ...
    def git_remote_urls(self, repository: str, remote: str) -> list[str]: ...
    def git_default_remote_urls(self, repository: str) -> list[str]: ...
    def git_url(self, repository: str, url: str) -> list[str]: ...
    def git_branch(self, repository: str) -> str: ...
    def git_push_refs(self, repository: str, remote: str, reference: str) -> list[str] | None: ...
    def git_check_ignore(self, path: str) -> Literal["ignored", "included", "unmentioned"] | None: ...
    def role_value(self, role: str, step: str, value: str) -> str: ...
    def condition(self, name: str, subject: str) -> bool: ...

def real_host(home_dir: str | None = None, current_dir: str | None = None) -> BuiltinHost: ...
def virtual_host(machine: Document) -> BuiltinHost: ...
def recorded_host(recording: Document) -> BuiltinHost: ...

@final
class Verdict:
    """Allow, escalate or deny. Neither true nor false: ``bool()`` raises ``TypeError``."""

    @property
    def decision(self) -> Decision: ...
    @property
    def rule(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def escalated_roles(self) -> list[str]: ...
    @property
    def approval(self) -> str | None: ...
    @property
    def is_allowed(self) -> bool: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Response:
    """A verdict, and the arguments to send if it lets the call pass. Neither true nor false."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def is_allowed(self) -> bool: ...
    @property
    def arguments(self) -> dict[str, Any] | None: ...
    @property
    def arguments_json(self) -> str | None: ...

@final
class Approvals:
    """What a person allowed. Threads may share one."""

    def __new__(cls) -> Approvals: ...
    @staticmethod
    def from_json(text: str) -> Approvals: ...
    def to_json(self) -> str: ...
    def add(self, offer: Document) -> str: ...
    def remove(self, id: str) -> bool: ...
    def entries(self) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...

@final
class References:
    """References to places of a gate's world: one table a session."""

    def resolve(
        self, address: str, context: Mapping[str, Any], *, require_exists: bool = False
    ) -> tuple[dict[str, Any], int | None]: ...
    def host_path(self, reference: int) -> str | None: ...
    def revoke(self, reference: int) -> bool: ...
    def revoke_all(self) -> None: ...

Directory: TypeAlias = str | PathLike[str]

@final
class Gate:
    """A policy decision point: documents and a host. Threads may share one; it keeps nothing between calls."""

    def __new__(
        cls,
        *,
        policy: Document | None = None,
        annotations: Document | None = None,
        lists: Document | None = None,
        programs: Document | None = None,
        sandbox: Directory | Sequence[str] | Mapping[str, Any] | None = None,
        options: Document | None = None,
        roles: Document | None = None,
        world: Document | None = None,
        ceiling: Document | None = None,
        invariants: Document | None = None,
        protected_paths: Document | None = None,
        domain_allowlists: Document | None = None,
        trusted_servers: Document | None = None,
        folder: Directory | None = None,
        host: Host | None = None,
    ) -> Gate: ...
    @staticmethod
    def from_bundle(
        path: Directory,
        *,
        protect_documents: bool = True,
        protect: Sequence[str] = (),
        policy: Document | None = None,
        annotations: Document | None = None,
        lists: Document | None = None,
        programs: Document | None = None,
        sandbox: Directory | Sequence[str] | Mapping[str, Any] | None = None,
        options: Document | None = None,
        roles: Document | None = None,
        world: Document | None = None,
        ceiling: Document | None = None,
        invariants: Document | None = None,
        protected_paths: Document | None = None,
        domain_allowlists: Document | None = None,
        trusted_servers: Document | None = None,
        folder: Directory | None = None,
        host: Host | None = None,
    ) -> Gate: ...
    def gate(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        container_workspace_dir: str | None = None,
        approvals: Approvals | None = None,
        now: datetime | str | None = None,
    ) -> Response: ...
    def evaluate(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        approvals: Approvals | None = None,
        now: datetime | str | None = None,
    ) -> Verdict: ...
    def judge_table(
        self,
        table: ArrowStream | ArrowBatch,
        *,
        server: str = "server",
        tool: str = "tool",
        arguments: str = "arguments",
        context: str | None = None,
        recording: str | None = None,
        prepared: bool = False,
    ) -> ArrowStream: ...
    def evaluate_text(self, call: str) -> Verdict: ...
    def explain(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        audience: Literal["operator", "agent"] = "operator",
        prepared: bool = False,
        context: Mapping[str, Any] | None = None,
        container_workspace_dir: str | None = None,
        approvals: Approvals | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]: ...
    def offer(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        container_workspace_dir: str | None = None,
    ) -> dict[str, Any] | None: ...
    def semantics(self, server: str, tool: str) -> dict[str, Any] | None: ...
    def argument_names(self, server: str, tool: str) -> list[str] | None: ...
    def tools(self) -> list[tuple[str, str]]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def files(self) -> list[str]: ...
    def references(self) -> References: ...
    def enforce(self, operation: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> dict[str, Any]: ...

def propose_annotations(tools: Document, server: str, *, existing: Document | None = None) -> dict[str, Any]: ...
def lint(gate: Gate, *, disk: bool = False) -> list[dict[str, Any]]: ...
def map(
    gate: Gate,
    *,
    tools: Sequence[str] = (),
    to: str | None = None,
    only: Sequence[Decision] = (),
    apart: bool = False,
    disk: bool = False,
) -> list[dict[str, Any]]: ...
def diff(gate: Gate, later: Gate, *, disk: bool = False) -> list[dict[str, Any]]: ...
def check(gate: Gate, *, disk: bool = False) -> list[dict[str, Any]]: ...
