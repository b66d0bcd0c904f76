"""Runs the tests of the Python package, with the frameworks that it has adapters for: `python3 host-shim/python/tests/run.py`.

It makes an environment of its own below `target`, with the versions of `requirements.txt`, and takes the module as cargo built it. The
last line is `N passed, N failed`. A test that is skipped is a failure under `CI=true`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[2]
TARGET = ROOT / "target"
VENV = TARGET / "python-venv"
IS_CI = os.environ.get("CI") == "true"


def environment() -> Path:
    """The environment's Python, with everything that the tests need."""
    python = VENV / "bin" / "python"
    wanted = (TESTS / "requirements.txt").read_text()
    marker = VENV / "requirements.txt"
    if not marker.exists() or marker.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--timeout=60", "--require-hashes", "--only-binary", ":all:"]
        subprocess.run([*pip, "-r", TESTS / "requirements.txt"], check=True)
        marker.write_text(wanted)
    return python


def module() -> Path:
    """A folder for Python's path, with the package as it is here and the engine as it was built."""
    # Cargo leaves it in the inner folder when it builds it for a test alone.
    folders = (TARGET / "debug", TARGET / "debug" / "deps")
    built = [path for folder in folders for path in folder.glob("libcallgate_python.*") if path.suffix in (".so", ".dylib")]
    if not built:
        sys.exit("the module is missing: run `cargo build -p callgate-python`")
    library = max(built, key=lambda path: path.stat().st_mtime)
    path = TARGET / "python"
    package = path / "callgate"
    package.mkdir(parents=True, exist_ok=True)
    sources = [(library, "_engine.abi3.so")]
    sources += [(source, source.name) for source in (TESTS.parent / "python" / "callgate").glob("*.[pt]y*")]
    for source, name in sources:
        place = package / name
        place.unlink(missing_ok=True)
        place.symlink_to(source)
    return path


def main() -> None:
    if sys.version_info < (3, 11):
        print("skipped: frameworks that are tested need Python 3.11 or later")
        sys.exit(1 if IS_CI else 0)
    command = [environment(), TESTS / "report.py"]
    path = os.pathsep.join([str(module()), str(TESTS)])
    sys.exit(subprocess.run(command, env={**os.environ, "PYTHONPATH": path}).returncode)


main()
