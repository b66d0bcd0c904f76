"""The same in DataFusion: `python datafusion_log.py POLICY ANNOTATIONS LOG.parquet`."""

import sys
from pathlib import Path

import pyarrow as pa
from datafusion import SessionContext, udf

from callgate import Gate, virtual_host


def changes(policy: str, annotations: str, log: str) -> list[dict[str, object]]:
    """The decisions by server and tool, with how many calls got each."""
    host = virtual_host({"home": "/home/agent", "cwd": "/home/agent"})
    gate = Gate(policy=policy, annotations=annotations, host=host, options={"directories": "pinned"})

    def decision(server: pa.Array, tool: pa.Array, arguments: pa.Array) -> pa.Array:
        calls = pa.table({"server": server, "tool": tool, "arguments": arguments})
        return pa.table(gate.judge_table(calls))["decision"].combine_chunks()

    context = SessionContext()
    context.register_udf(udf(decision, [pa.string()] * 3, pa.string(), "stable", "decision"))
    context.register_parquet("log", log)
    query = """
        SELECT server, tool, decision(server, tool, arguments) AS decision, count(*) AS calls
        FROM log GROUP BY 1, 2, 3 ORDER BY calls DESC, server, tool
    """
    return context.sql(query).to_pylist()


if __name__ == "__main__":
    policy, annotations, log = sys.argv[1:]
    for row in changes(Path(policy).read_text(), Path(annotations).read_text(), log):
        print(*row.values(), sep="\t")
