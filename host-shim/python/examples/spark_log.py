"""The same in Spark, from 4.1 on: `python spark_log.py POLICY ANNOTATIONS LOG.parquet`."""

import sys
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf, count

from callgate import Gate, virtual_host

GATES: dict[tuple[str, str], Gate] = {}


def changes(policy: str, annotations: str, log: str) -> list[tuple[str, str, str, int]]:
    """The decisions by server and tool, with how many calls got each."""
    spark = SparkSession.builder.appName("callgate").getOrCreate()

    @arrow_udf("string")
    def decision(server: pa.Array, tool: pa.Array, arguments: pa.Array) -> pa.Array:
        # A worker makes the gate that the documents say, once: a gate cannot be sent to it.
        if (policy, annotations) not in GATES:
            host = virtual_host({"home": "/home/agent", "cwd": "/home/agent"})
            options = {"directories": "pinned"}
            GATES[policy, annotations] = Gate(policy=policy, annotations=annotations, host=host, options=options)
        calls = pa.table({"server": server, "tool": tool, "arguments": arguments})
        return pa.table(GATES[policy, annotations].judge_table(calls))["decision"].combine_chunks()

    frame = spark.read.parquet(log)
    judged = frame.select("server", "tool", decision("server", "tool", "arguments").alias("decision"))
    counted = judged.groupBy("server", "tool", "decision").agg(count("*").alias("calls"))
    return [tuple(row) for row in counted.orderBy(counted.calls.desc(), "server", "tool").collect()]


if __name__ == "__main__":
    policy, annotations, log = sys.argv[1:]
    for row in changes(Path(policy).read_text(), Path(annotations).read_text(), log):
        print(*row, sep="\t")
