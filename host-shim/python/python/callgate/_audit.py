"""A guard's log as a table of Arrow's, for engines that read Parquet.

The columns are those that questions are asked about; `line` has the whole line, with whatever members are added later.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

_BATCH = 65_536
_VALUE = pa.struct([(name, pa.string()) for name in ("argument", "role", "raw", "canonical")])
SCHEMA = pa.schema([
    ("time", pa.timestamp("us", tz="UTC")),
    ("kind", pa.dictionary(pa.int32(), pa.string())),
    ("server", pa.dictionary(pa.int32(), pa.string())),
    ("tool", pa.dictionary(pa.int32(), pa.string())),
    ("id", pa.string()),
    ("decision", pa.dictionary(pa.int32(), pa.string())),
    ("rule", pa.dictionary(pa.int32(), pa.string())),
    ("reason", pa.string()),
    ("escalatedRoles", pa.list_(pa.string())),
    ("values", pa.list_(_VALUE)),
    ("approval", pa.string()),
    ("answeredBy", pa.string()),
    ("outcome", pa.string()),
    ("observed", pa.bool_()),
    ("micros", pa.int64()),
    ("policy", pa.string()),
    ("previous", pa.string()),
    ("line", pa.string()),
])


def write_parquet(logs: Iterable[Path], place: Path) -> int:
    """Writes the lines of logs, in their order, and returns how many they are.

    Raises `ValueError` with the place of a line that is not one of a log. Whether a log is whole, `callgate audit verify` says.
    """
    new, count = place.with_name(f"{place.name}.new"), 0
    try:
        with pq.ParquetWriter(new, SCHEMA, compression="zstd") as writer:
            for batch in _batches(_lines(logs)):
                writer.write_table(pa.Table.from_pylist(batch, SCHEMA))
                count += len(batch)
        os.replace(new, place)
    finally:
        new.unlink(missing_ok=True)
    return count


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def _lines(logs: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for log in logs:
        with log.open(encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                try:
                    line = json.loads(text)
                    if line["format"] != "callgate-audit/1":
                        raise ValueError(f"the format is `{line['format']}`, expected `callgate-audit/1`")
                    row = {name: line.get(name) for name in SCHEMA.names}
                    row.update(time=datetime.fromisoformat(line["time"].replace("Z", "+00:00")), line=text.rstrip("\n"))
                    row["observed"] = line.get("observed") is True
                    pa.array([row], pa.struct(SCHEMA))
                except (AttributeError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
                    raise ValueError(f"{log}:{number}: not a line of a log: {error}") from error
                yield row
