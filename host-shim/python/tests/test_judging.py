"""What stands between a framework's call and the gate's."""

from __future__ import annotations

import unittest
from types import MappingProxyType
from typing import Any

from adapting import READ, READ_AS_JUDGED, WRITE, gate, raises

from callgate import Approvals
from callgate._judging import Judging, same
from callgate._schema import untold


class Judged(unittest.TestCase):
    def test_names(self) -> None:
        self.assertTrue(Judging(gate(), lambda name: ("notes", name.removeprefix("my_"))).judge("my_read", READ[1]).is_allowed)
        for server in (lambda _: None, lambda _: "notes", lambda _: (None, "read"), lambda _: raises(KeyError("x")), lambda _: ("notes",)):
            with self.subTest(server=server), self.assertLogs("callgate"):
                self.assertEqual(Judging(gate(), server).judge("read", READ[1]).rule, "structural-hook-fault")  # type: ignore[arg-type]

    def test_what_is_no_call(self) -> None:
        for name, arguments, rule in (
            (None, {}, "structural-hook-fault"),
            ("", {}, "structural-hook-fault"),
            (b"read", {}, "structural-hook-fault"),
            ("read", [], "structural-unreadable-argument"),
            ("read", "{}", "structural-unreadable-argument"),
            ("read", {"path": object()}, "structural-hook-fault"),
            ("read", {1: 2}, "structural-hook-fault"),
        ):
            judged = Judging(gate(), "notes").judge(name, arguments)
            with self.subTest(name=name, arguments=arguments):
                self.assertEqual((judged.decision, judged.rule), ("deny", rule))
        self.assertTrue(Judging(gate(), "notes").judge("read", MappingProxyType(READ[1])).is_allowed)

    def test_an_interruption_is_not_swallowed(self) -> None:
        broken: Any = type("Gate", (), {"gate": lambda *_, **__: raises(KeyboardInterrupt())})()
        with self.assertRaises(KeyboardInterrupt):
            Judging(broken, "notes").judge("read", {})

    def test_what_a_person_allowed_is_one_call(self) -> None:
        judging = Judging(gate(), "notes")
        key = judging.judge(*WRITE).key
        self.assertTrue(judging.judge(*WRITE, approved=key).is_allowed)
        for other in ({**WRITE[1], "text": "other"}, {**WRITE[1], "path": "~/notes/c.md"}, {**WRITE[1], "more": None}):
            self.assertTrue(judging.judge("write", other, approved=key).must_ask)
        for approved in (None, "", "refused", key[:-1]):
            self.assertTrue(judging.judge(*WRITE, approved=approved).must_ask)
        self.assertEqual(judging.judge("read", {"path": "/home/u/keys/k"}, approved=key).decision, "deny")

    def test_approvals_and_context_are_given_with_each_call(self) -> None:
        approvals = Approvals()
        judging = Judging(gate(), "notes", approvals=approvals)
        self.assertTrue(judging.judge(*WRITE).must_ask)
        approvals.add(gate().offer("notes", *WRITE))
        self.assertTrue(judging.judge(*WRITE).is_allowed)
        with self.assertLogs("callgate"):
            self.assertEqual(Judging(gate(), "notes", context=lambda: raises(ValueError())).judge(*READ).rule, "structural-hook-fault")

    def test_values_of_json(self) -> None:
        for one, other in ((1, 1.0), (1, True), (0, False), ("1", 1), ([], {}), (None, {}), ("é", "e\u0301")):
            self.assertFalse(same(one, other), (one, other))
        self.assertTrue(same({"a": 1, "b": [1]}, {"b": (1,), "a": 1}))

    def test_a_framework_that_cannot_change_arguments(self) -> None:
        judging = Judging(gate(), "notes")
        self.assertTrue(judging.judge(*READ_AS_JUDGED).as_given(READ_AS_JUDGED[1]).is_allowed)
        for given in ({"path": "~/notes/a.md"}, {"path": "/home/u/notes/../notes/a.md"}, {}, None, [], "x"):
            judged = judging.judge(*READ).as_given(given)
            self.assertEqual((judged.decision, judged.rule), ("deny", "structural-unresolvable-value"))
            self.assertIn("`path`", judged.message)
            self.assertNotIn("/home/u", judged.message)

    def test_a_question_hides_nothing(self) -> None:
        judged = Judging(gate(), "notes").judge("write", {"path": "~/notes/b.md", "text": "ä\u202egpj\u200b\x1b[2J\ud800"})
        self.assertIn('"ä\\u202egpj\\u200b\\u001b[2J\\ud800"', judged.question)
        judged.question.encode()


class Told(unittest.TestCase):
    def test_names_that_a_schema_tells(self) -> None:
        note = {"type": "object", "properties": {"path": {"type": "string"}, "next": {"$ref": "#/$defs/note"}}}
        schema = {"type": "object", "$defs": {"note": note}, "properties": {
            "note": {"$ref": "#/$defs/note", "description": "a note"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/note"}, {"type": "null"}]},
            "many": {"type": "array", "items": {"$ref": "#/$defs/note"}},
            "by_name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/note"}},
            "open": {"type": "object"}, "any": {"title": "Any"}, "none": {"type": "object", "additionalProperties": False}}}
        for value, name in (
            ({}, None),
            ({"file": 1}, "file"),
            ({"note": {"path": "x", "next": {"path": "y"}}}, None),
            ({"note": {"next": {"next": {"file": "y"}}}}, "file"),
            ({"maybe": None}, None),
            ({"maybe": {"file": 1}}, "file"),
            ({"many": [{"path": 1}, {"file": 1}]}, "file"),
            ({"many": [{"path": 1}]}, None),
            ({"by_name": {"a": {"path": 1}}}, None),
            ({"by_name": {"a": {"file": 1}}}, "file"),
            ({"open": {"file": 1}, "any": {"file": [{"x": 1}]}}, None),
            ({"none": {"file": 1}}, "file"),
        ):
            with self.subTest(value=value):
                self.assertEqual(untold(value, schema), name)
        self.assertIsNone(untold({"file": 1}, {"type": "object"}))
        self.assertEqual(untold({"file": 1}, {"type": "object", "properties": {}}), "file")


if __name__ == "__main__":
    unittest.main()
