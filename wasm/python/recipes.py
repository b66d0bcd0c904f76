"""The recipes of `wasm/README.md` run: Python's example as it stands, and the program in C. The last line is `N passed, N failed`.

The program is compiled with the headers of the crate that wasmtime's C API is made of, and linked with the library in Python's package.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import environment

environment.enter()

import wasmtime

PAGE = (environment.ROOT / "wasm" / "README.md").read_text()
VERSION = importlib.metadata.version("wasmtime")
# Nothing of wasmtime's crate is compiled: its headers are read, which come with it.
MANIFEST = f"""[package]
name = "headers"
edition = "2024"
[lib]
path = "none.rs"
[dependencies]
wasmtime-c-api-impl = {{ version = "={VERSION}", default-features = false }}
[workspace]
"""
FEATURES = ("COMPONENT_MODEL", "CRANELIFT")


def headers() -> Path:
    """The folder of the C API's headers."""
    folder = environment.VENV / "headers"
    folder.mkdir(exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    (folder / "none.rs").write_text("")
    metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1"], cwd=folder))
    package = next(package for package in metadata["packages"] if package["name"] == "wasmtime-c-api-impl")
    return Path(package["manifest_path"]).parent / "include"


class Recipes(unittest.TestCase):
    @contextlib.contextmanager
    def home(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"HOME": os.path.realpath(folder)}):
            home = Path(os.path.realpath(folder))
            for name in ("notes/a.md", "keys/k.pem"):
                (home / name).parent.mkdir()
                (home / name).touch()
            (home / "notes/link").symlink_to("../keys/k.pem")
            (home / "callgate.component.wasm").symlink_to(environment.COMPONENT)
            with contextlib.chdir(home):
                yield home

    def test_python(self) -> None:
        example = PAGE.split("```python\n")[1].split("```")[0]
        with self.home() as home, contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example, "README.md", "exec"), {})
        decisions = [line.split()[0] for line in printed.getvalue().splitlines()]
        self.assertEqual(decisions, ["allow", "deny", "allow"], printed.getvalue())
        self.assertIn(f"{{'path': '{home}/notes/a.md'}}", printed.getvalue())

    def test_c(self) -> None:
        include_folder = headers()
        with self.home() as home:
            library = next(Path(wasmtime.__file__).parent.glob("*/_libwasmtime.*"))
            (home / "wasmtime").mkdir()
            (home / "wasmtime/conf.h").write_text("".join(f"#define WASMTIME_FEATURE_{name}\n" for name in (*FEATURES, "COMPILER")))
            source = environment.ROOT / "wasm" / "c" / "judge.c"
            include, link = ["-I", home, "-I", include_folder], [library, f"-Wl,-rpath,{library.parent}"]
            subprocess.run(["cc", "-Wall", "-Werror", "-O2", *include, source, *link, "-o", home / "judge"], check=True)
            rule = {"name": "notes", "if": {"paths": {"roles": "read-path", "within": "~/notes"}}, "then": "allow", "reason": "open"}
            tool = {"toolName": "read", "args": {"path": "read-path"}}
            (home / "policy.json").write_text(json.dumps({"rules": [rule]}))
            (home / "annotations.json").write_text(json.dumps({"servers": {"files": {"tools": [tool]}}}))
            for path, expected in (("~/notes/a.md", f'allow by notes\n{{"path":"{home}/notes/a.md"}}\n'), ("~/notes/link", "deny by default-deny\n"),
                                   ("~/notes/new.md", f'allow by notes\n{{"path":"{home}/notes/new.md"}}\n'), ("\0", None)):
                call = json.dumps({"serverName": "files", "toolName": "read", "arguments": {"path": path}})
                done = subprocess.run([home / "judge", environment.COMPONENT, "policy.json", "annotations.json", call],
                                      capture_output=True, text=True, check=False)
                if expected is None:
                    self.assertEqual(done.returncode, 2, done)
                else:
                    self.assertEqual(done.stdout, expected, done.stderr)


if __name__ == "__main__":
    print(f"# wasmtime {VERSION}", file=sys.stderr)
    ran = unittest.main(exit=False).result
    failed = len(ran.failures) + len(ran.errors) + (len(ran.skipped) if os.environ.get("CI") == "true" else 0)
    print(f"{ran.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
