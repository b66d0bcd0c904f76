"""Runs every `test_*.py` beside this file, and counts."""

from __future__ import annotations

import faulthandler
import os
import sys
import unittest
from pathlib import Path


def main() -> None:
    # Whoever hangs is shown, and ends.
    faulthandler.dump_traceback_later(25 * 60, exit=True)
    suite = unittest.defaultTestLoader.discover(str(Path(__file__).parent), "test_*.py")
    found = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(found.failures) + len(found.errors) + len(found.unexpectedSuccesses)
    if os.environ.get("CI") == "true":
        failed += len(found.skipped)
    passed = found.testsRun - failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
