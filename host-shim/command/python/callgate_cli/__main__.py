"""Runs the command in place of this process: `python -m callgate_cli`, and the script `callgate-cli`."""

import os
import sys

from ._find import find_callgate


def main() -> None:
    """Ends as the command does."""
    command = find_callgate()
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
