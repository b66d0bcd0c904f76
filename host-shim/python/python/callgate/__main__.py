"""`python -m callgate audit export LOG… --parquet FILE`: a guard's log for engines that read Parquet. It needs `pyarrow`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m callgate", description="What of Callgate is in Python alone; `callgate` is the command.")
    audit = parser.add_subparsers(required=True).add_parser("audit", help="the log of `callgate guard --audit`")
    export = audit.add_subparsers(required=True).add_parser("export", help="write logs, in their order, as one table")
    export.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    export.add_argument("--parquet", required=True, type=Path, metavar="FILE")
    asked = parser.parse_args()
    try:
        from ._audit import write_parquet

        count = write_parquet(asked.logs, asked.parquet)
    except (ImportError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 4
    print(f"{count} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
