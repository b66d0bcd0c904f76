"""The package, its adapters and a program that uses it pass `mypy --strict` and pyright."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import callgate

from adapting import needs

needs("mypy", "pyright", "mcp", "fastmcp", "langchain", "openai-agents", "pydantic-ai-slim", "claude-agent-sdk", "google-adk",
      "agent-framework-core")

PACKAGE = Path(callgate.__file__).parent
PROGRAM = Path(__file__).with_name("typed.py")


class Types(unittest.TestCase):
    def checked(self, *command: str) -> None:
        environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_mypy(self) -> None:
        self.checked("mypy", "--strict", str(PACKAGE), str(PROGRAM))

    def test_pyright(self) -> None:
        self.checked("pyright", "--pythonpath", sys.executable, str(PACKAGE), str(PROGRAM))


if __name__ == "__main__":
    unittest.main()
