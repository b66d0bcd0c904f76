"""Tables of calls: what Arrow's packages give is judged in its order, and what they get is theirs."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from callgate import CallgateError, Gate, virtual_host
from callgate._audit import write_parquet

sys.path.append(str(Path(__file__).parents[1] / "examples"))
import datafusion_log
import duckdb_log

POLICY = {
    "rules": [
        {"name": "logs", "if": {"server": "git"}, "then": "allow", "reason": "reads only"},
        {"name": "ask", "if": {"roles": ["fetch-url"]}, "then": "escalate", "reason": "outside"},
        {
            "name": "documents",
            "if": {"paths": {"roles": "read-path", "within": "~/Documents"}},
            "then": "allow",
            "reason": "open",
        },
    ]
}
ANNOTATIONS = {
    "servers": {
        "git": {"tools": [{"toolName": "log", "args": {"n": "none"}}]},
        "web": {"tools": [{"toolName": "fetch", "args": {"url": "fetch-url"}}]},
        "files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]},
    }
}
CALLS = {
    "server": ["git", "web", "files", "files", "none", None, "git", "git"],
    "tool": ["log", "fetch", "read", "read", "none", "log", "log", "log"],
    "arguments": [
        '{"n": 3}',
        '{"url": "https://example.org/"}',
        '{"path": "~/Documents/x/../a"}',
        '{"path": "/etc/passwd"}',
        None,
        "{}",
        "{",
        None,
    ],
}
DECISIONS = ["allow", "escalate", "allow", "deny", "deny", None, None, "allow"]


def gate() -> Gate:
    host = virtual_host({"home": "/home/u", "cwd": "/home/u"})
    return Gate(policy=POLICY, annotations=ANNOTATIONS, host=host)


class Tables(unittest.TestCase):
    def test_rows_are_answered_in_their_order_with_what_is_sent(self) -> None:
        judged = pa.table(gate().judge_table(pa.table(CALLS)))
        self.assertEqual(judged["decision"].to_pylist(), DECISIONS)
        self.assertEqual(judged["rule"].to_pylist()[:3], ["logs", "ask", "documents"])
        self.assertEqual(judged["escalated_roles"].to_pylist()[1], ["fetch-url"])
        self.assertEqual(json.loads(judged["arguments"].to_pylist()[2]), {"path": "/home/u/Documents/a"})
        errors = judged["error"].to_pylist()
        self.assertEqual([row for row, error in enumerate(errors) if error], [5, 6])
        self.assertIn("no server", errors[5])
        self.assertIn("arguments: ", errors[6])

    def test_a_row_has_the_verdict_of_a_call(self) -> None:
        one = gate()
        judged = pa.table(one.judge_table(pa.table(CALLS))).to_pylist()
        for row, (server, tool, text) in enumerate(zip(*CALLS.values())):
            if judged[row]["error"]:
                continue
            verdict = one.gate(server, tool, json.loads(text) if text else None).verdict
            found = (judged[row]["decision"], judged[row]["rule"], judged[row]["reason"])
            self.assertEqual(found, (verdict.decision, verdict.rule, verdict.reason))

    def test_every_kind_of_text_and_of_table_is_read(self) -> None:
        tables = [
            pa.table(CALLS).cast(pa.schema([(name, pa.large_string()) for name in CALLS])),
            pa.table({name: pa.array(column).dictionary_encode() for name, column in CALLS.items()}),
            pa.RecordBatch.from_pydict(CALLS),
            pa.RecordBatchReader.from_batches(pa.table(CALLS).schema, pa.table(CALLS).to_batches(max_chunksize=3)),
            pl.DataFrame(CALLS),
            pl.DataFrame(CALLS, schema_overrides={"server": pl.Categorical}),
            duckdb.connect().from_arrow(pa.table(CALLS)),
            datafusion.SessionContext().from_arrow(pa.table(CALLS)),
        ]
        for table in tables:
            with self.subTest(type(table)):
                judged = pl.DataFrame(gate().judge_table(table))
                self.assertEqual(judged["decision"].to_list(), DECISIONS)

    def test_recorded_answers_stand_in_for_the_host(self) -> None:
        path = {"path": "~/Documents/a"}
        elsewhere = virtual_host(
            {"home": "/home/u", "cwd": "/home/u", "fs": {"links": {"/home/u/Documents/a": "/etc/passwd"}, "files": ["/etc/passwd"]}}
        )
        linked = Gate(policy=POLICY, annotations=ANNOTATIONS, host=elsewhere)
        recording = json.dumps(linked.explain("files", "read", path)["recording"])
        calls = pa.table({"server": ["files"] * 2, "tool": ["read"] * 2, "arguments": [json.dumps(path)] * 2, "answers": [recording, None]})
        judged = pa.table(gate().judge_table(calls, recording="answers")).to_pylist()
        self.assertEqual(judged[0]["decision"], "deny")
        self.assertEqual(judged[1]["decision"], None)
        self.assertIn("no recording", judged[1]["error"])

    def test_malformed_tables_are_errors(self) -> None:
        texts = pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
        )
        words = pa.DictionaryArray.from_arrays(pa.array([7], pa.int32()), pa.array(["git"]), safe=False)
        for server in (texts, words):
            table = pa.Table.from_arrays([server, pa.array(["log"]), pa.array(["{}"])], ["server", "tool", "arguments"])
            with self.assertRaises(Exception):
                pa.table(gate().judge_table(table))

    def test_a_column_that_is_missing_or_no_text_is_named(self) -> None:
        for table, expected in [
            (pa.table({"server": ["a"], "tool": ["b"]}), "no column `arguments`"),
            (pa.table({**CALLS, "tool": list(range(8))}), "`tool` is of Int64"),
        ]:
            with self.assertRaisesRegex(Exception, expected):
                pa.table(gate().judge_table(table))
        with self.assertRaises((CallgateError, TypeError, ValueError)):
            gate().judge_table([1, 2])  # type: ignore[arg-type]

    def test_a_log_is_judged_in_duckdb_and_in_datafusion(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = str(Path(folder) / "log.parquet")
            pq.write_table(pa.table({name: column[:4] for name, column in CALLS.items()}), log)
            policy, annotations = json.dumps(POLICY), json.dumps(ANNOTATIONS)
            rows = sorted(duckdb_log.changes(policy, annotations, log))
            others = sorted(tuple(row.values()) for row in datafusion_log.changes(policy, annotations, log))
        self.assertEqual(rows, others)
        self.assertEqual(
            rows,
            [("files", "read", "allow", 1), ("files", "read", "deny", 1), ("git", "log", "allow", 1), ("web", "fetch", "escalate", 1)],
        )


# Spark is 490 MB and needs Java (17 or later, with the module `jdk.incubator.vector`), so the suite does not install it.
if importlib.util.find_spec("pyspark") is not None:

    class Spark(unittest.TestCase):
        def test_a_log_is_judged_in_spark(self) -> None:
            import spark_log

            with tempfile.TemporaryDirectory() as folder:
                log = str(Path(folder) / "log.parquet")
                pq.write_table(pa.table({name: column[:4] for name, column in CALLS.items()}), log)
                rows = spark_log.changes(json.dumps(POLICY), json.dumps(ANNOTATIONS), log)
            self.assertEqual(
                rows,
                [("files", "read", "allow", 1), ("files", "read", "deny", 1), ("git", "log", "allow", 1), ("web", "fetch", "escalate", 1)],
            )


class Audit(unittest.TestCase):
    def exported(self, *logs: str) -> tuple[subprocess.CompletedProcess[str], Any]:
        with tempfile.TemporaryDirectory() as folder:
            place, files = Path(folder) / "log.parquet", []
            for at, log in enumerate(logs):
                files.append(Path(folder) / f"{at}.jsonl")
                files[-1].write_text(log, encoding="utf-8")
            command = [sys.executable, "-m", "callgate", "audit", "export", *files, "--parquet", place]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            left = {path.name for path in Path(folder).iterdir()} - {file.name for file in files}
            self.assertEqual(left, set() if done.returncode else {"log.parquet"})
            return done, None if done.returncode else pq.read_table(place)

    def test_logs_are_one_table(self) -> None:
        common = {"format": "callgate-audit/1", "time": "2026-11-27T23:01:02.345Z", "previous": None, "server": "notes"}
        value = {"argument": "/path", "role": "read-path", "raw": "~/ä", "canonical": "/home/u/ä"}
        decision = {**common, "kind": "decision", "id": "a1", "tool": "read", "decision": "escalate", "rule": "ask", "reason": "ask",
                    "escalatedRoles": ["read-path"], "values": [value], "valuesLeftOut": 0, "others": ["n"], "sent": None, "micros": 7}
        outcome = {**common, "kind": "outcome", "id": "a1", "outcome": "done", "micros": 2_000, "observed": True}
        lines = [json.dumps(line) for line in (decision, {**outcome, "later": {"n": 2**80}})]
        done, table = self.exported(lines[0] + "\n", lines[1] + "\n")
        self.assertEqual((done.stdout, done.stderr), ("2 lines\n", ""))
        first, second = table.to_pylist()
        self.assertEqual(first["values"], [value])
        self.assertEqual((first["decision"], first["escalatedRoles"], first["micros"], first["observed"]), ("escalate", ["read-path"], 7, False))
        self.assertEqual((first["time"].isoformat(), second["outcome"], second["tool"]), ("2026-11-27T23:01:02.345000+00:00", "done", None))
        self.assertTrue(second["observed"])
        self.assertEqual([row["line"] for row in (first, second)], lines)
        query = "SELECT decision, count(*) FROM logged WHERE list_contains(list_transform(\"values\", lambda v: v.role), 'read-path') GROUP BY 1"
        self.assertEqual(duckdb.from_arrow(table).query("logged", query).fetchall(), [("escalate", 1)])
        self.assertEqual(self.exported("")[1].num_rows, 0)

    def test_what_is_no_line_of_a_log_has_its_place(self) -> None:
        for line in ("{", "[]", "{}", '{"format": "callgate-audit/2"}', '{"format": "callgate-audit/1", "time": 1}',
                     '{"format": "callgate-audit/1", "time": "2026-11-27T23:01:02Z", "micros": "x"}'):
            with self.subTest(line=line), tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "log.jsonl"
                log.write_text('{"format": "callgate-audit/1", "time": "2026-11-27T23:01:02Z"}\n' + line + "\n")
                with self.assertRaisesRegex(ValueError, "log.jsonl:2: not a line of a log"):
                    write_parquet([log], Path(folder) / "log.parquet")
                self.assertEqual(list(Path(folder).iterdir()), [log])
        done, _ = self.exported("{}\n")
        self.assertEqual(done.returncode, 4)
        self.assertIn("0.jsonl:1: not a line of a log", done.stderr)


if __name__ == "__main__":
    unittest.main()
