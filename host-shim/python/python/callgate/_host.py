"""The protocol of a host of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol


class Host(Protocol):
    """Answers the engine's questions about a machine.

    Paths, both given and returned, are absolute POSIX paths without ``.``, ``..``, ``//`` or a trailing ``/``. A method that raises,
    or returns another type, denies the call by rule ``structural-host-error``. Each distinct question is asked at most once a call.
    A host may also have ``ignores_path_case: bool`` (``True`` by default: names are folded only where a comparison can deny),
    ``condition(name, subject) -> bool`` and ``role_value(role, step, value) -> str``.
    """

    @property
    def home_dir(self) -> str: ...
    @property
    def current_dir(self) -> str: ...
    def realpath(self, path: str, /) -> str:
        """The path without links; it must exist. An ``OSError`` says why it has none, so ``os.path.realpath`` with ``strict=True`` fits."""
        ...

    def read_link(self, path: str, /) -> str | None:
        """The target of the link at the path; ``None`` if there is no link. A host that cannot tell raises."""
        ...

    def is_directory(self, path: str, /) -> bool | None: ...
    def git_remote_urls(self, repository: str, remote: str, /) -> Sequence[str]: ...
    def git_default_remote_urls(self, repository: str, /) -> Sequence[str]: ...
    def git_url(self, repository: str, url: str, /) -> Sequence[str]: ...
    def git_branch(self, repository: str, /) -> str: ...
    def git_push_refs(self, repository: str, remote: str, reference: str, /) -> Sequence[str] | None: ...
    def git_check_ignore(self, path: str, /) -> Literal["ignored", "included", "unmentioned"] | None:
        """What git's ignore files say of the path, as ``git check-ignore --no-index`` has it; ``None`` if that cannot be told."""
        ...
