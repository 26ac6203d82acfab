"""Databases of tuning that others made: their paths and their records."""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pytest

from tilewright.records import Journal, JournalError, Trial, Where

WHERE = Where("program", "device", "driver", "compiler", "policy")
TRIAL = Trial('{"tile": 8}', "ok", seconds=(1e-3,), score=0.5)


@pytest.mark.parametrize("name", ["t#1.db", "t?mode=rwc.db", "t%41.db", "t 1.db", "tä.db"])
def test_any_path_is_opened_again(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Journal(tmp_path / name) as journal:
            journal.add(WHERE, TRIAL)
        with Journal(tmp_path / name) as journal:
            assert [one.score for one in journal.trials(WHERE)] == [0.5]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("seconds", "not json", "a JSON array of numbers as seconds, got 'not json'"),
        ("seconds", "5", "a JSON array of numbers as seconds, got '5'"),
        ("against", '["a"]', "a JSON array of numbers as against, got '[\"a\"]'"),
        ("seconds", "[" * 100_000, "a JSON array of numbers as seconds, got '" + "[" * 79),
        ("seconds", b"\xff", "a JSON array of numbers as seconds, got b'\\xff'"),
        ("score", "a\x1b[31m", "a number as score, got 'a\\x1b[31m'"),
        ("choices", b"\0", "text as choices, got b'\\x00'"),
        ("choices", "[1]", "a JSON object as choices, got '[1]'"),
        ("status", "fine", "one of ok, refused, failed, wrong, crash, hang, lost as status, got 'fine'"),
    ],
)
def test_a_record_that_is_none(column: str, value: Any, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with Journal(path) as journal:
        journal.add(WHERE, TRIAL)
    connection = sqlite3.connect(path)
    connection.execute("drop trigger no_update")
    connection.execute(f"update trials set {column} = ?", (value,))
    connection.commit()
    connection.close()
    with Journal(path) as journal, pytest.raises(JournalError) as caught:
        journal.trials(WHERE)
    assert str(caught.value) == f"{path}: record 1: expected {expected}"
