"""A host's program, as type checkers see it: what is right passes, and each mistake is one."""

from collections.abc import Sequence
from typing import Literal

from callgate import Approvals, Gate, Host, HostError, Response, real_host


class Notes:
    """A host of one's own."""

    home_dir = "/home/u"
    current_dir = "/home/u"

    def realpath(self, path: str, /) -> str:
        raise HostError("no disk")

    def read_link(self, path: str, /) -> str | None:
        return None

    def is_directory(self, path: str, /) -> bool | None:
        return None

    def git_remote_urls(self, repository: str, remote: str, /) -> Sequence[str]:
        return []

    def git_default_remote_urls(self, repository: str, /) -> Sequence[str]:
        return []

    def git_url(self, repository: str, url: str, /) -> Sequence[str]:
        return [url]

    def git_branch(self, repository: str, /) -> str:
        return "main"

    def git_push_refs(self, repository: str, remote: str, reference: str, /) -> Sequence[str] | None:
        return None

    def git_check_ignore(self, path: str, /) -> Literal["ignored", "included", "unmentioned"] | None:
        return "ignored" if path.endswith("/.env") else "unmentioned"


def judged(gate: Gate) -> Response:
    return gate.gate("notes", "read", {"path": "~/a.md"}, approvals=Approvals(), now="2026-11-27T00:00:00Z")


notes: Host = Notes()
own = judged(Gate(policy={"rules": []}, annotations={"servers": {}}, host=notes))
built_in = judged(Gate.from_bundle("callgate.json", host=real_host(home_dir="/home/u")))
decision: str = own.verdict.decision
roles: list[str] = own.verdict.escalated_roles

own.verdict.decision = "allow"  # type: ignore[misc]
wrong: bool = own.verdict.decision == "permit"  # type: ignore[comparison-overlap]
judged(Gate(polic={}))  # type: ignore[call-arg]
judged(Gate(host=object()))  # type: ignore[arg-type]
own.gate.gate("notes")  # type: ignore[attr-defined]
