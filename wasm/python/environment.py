"""The environment of the tests: wasmtime's package, installed once below `target` with the version and hashes of `requirements.txt`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPONENT = ROOT / "wasm" / "dist" / "callgate.component.wasm"
VENV = ROOT / "target" / "wasmtime-py"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def enter() -> None:
    """Goes on as the environment's Python."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    python, marker, wanted = VENV / "bin" / "python", VENV / "requirements.txt", REQUIREMENTS.read_text()
    if not marker.exists() or marker.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True, stdout=sys.stderr)
        pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", REQUIREMENTS]
        subprocess.run(pip, check=True, stdout=sys.stderr)
        marker.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])
