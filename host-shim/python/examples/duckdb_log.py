"""A year of a fleet's log, judged by a new policy in DuckDB: `python duckdb_log.py POLICY ANNOTATIONS LOG.parquet`.

The log has the columns `server`, `tool` and `arguments` (JSON text), and may have any other. Paths are judged as on a machine that
has no links, whose home is `/home/agent`.
"""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa

from callgate import Gate, virtual_host


def changes(policy: str, annotations: str, log: str) -> list[tuple[str, str, str, int]]:
    """The decisions by server and tool, with how many calls got each."""
    host = virtual_host({"home": "/home/agent", "cwd": "/home/agent"})
    # Nothing changes on that machine, so its directories are resolved once.
    gate = Gate(policy=policy, annotations=annotations, host=host, options={"directories": "pinned"})

    def decision(server: pa.Array, tool: pa.Array, arguments: pa.Array) -> pa.Array:
        calls = pa.table({"server": server, "tool": tool, "arguments": arguments})
        return pa.table(gate.judge_table(calls))["decision"].combine_chunks()

    database = duckdb.connect()
    database.create_function("decision", decision, ["VARCHAR"] * 3, "VARCHAR", type="arrow")
    query = """
        SELECT server, tool, decision(server, tool, arguments) AS decision, count(*) AS calls
        FROM read_parquet(?) GROUP BY ALL ORDER BY calls DESC, server, tool
    """
    return database.execute(query, [log]).fetchall()


if __name__ == "__main__":
    policy, annotations, log = sys.argv[1:]
    for row in changes(Path(policy).read_text(), Path(annotations).read_text(), log):
        print(*row, sep="\t")
