"""The module itself: errors and their places, values at the edge of JSON, approvals, hosts in Python, threads, stubs."""

from __future__ import annotations

import ast
import datetime
import inspect
import threading
import unittest
from pathlib import Path
from typing import Any

import callgate
from callgate import Approvals, CallError, CallgateError, DocumentError, Gate, HostError, virtual_host

from adapting import ANNOTATIONS, KEYS, POLICY, READ, WRITE, WRITE_AS_JUDGED, gate, raises


class Recursion(unittest.TestCase):
    def test_a_host_that_asks_its_own_gate_is_ended(self) -> None:
        class Asking:
            def __init__(self) -> None:
                self.honest = virtual_host({"home": "/home/u", "cwd": "/home/u"})
                self.gate: Gate | None = None

            def __getattr__(self, name: str) -> Any:
                return getattr(self.honest, name)

            def realpath(self, path: str) -> str:
                if self.gate is not None:
                    self.gate.gate("notes", *READ)
                return self.honest.realpath(path)

        host = Asking()
        host.gate = Gate(policy=POLICY, annotations=ANNOTATIONS, host=host)
        self.assertIn(host.gate.gate("notes", *READ).verdict.decision, ("allow", "deny"))


class Names(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self) -> None:
        project = (Path(__file__).parents[3] / "Cargo.toml").read_text()
        self.assertIn(f'\nversion = "{callgate.__version__}"\n', project)

    def test_the_arguments_of_an_annotation(self) -> None:
        judging = gate()
        self.assertEqual(judging.argument_names("notes", "write"), ["path", "text"])
        self.assertIsNone(judging.argument_names("notes", "added"))


class Errors(unittest.TestCase):
    def test_a_time_or_a_decision_that_is_none(self) -> None:
        for now in (5, "yesterday", datetime.datetime(2026, 1, 1)):
            with self.subTest(now=now), self.assertRaisesRegex(ValueError, "now: expected a datetime with a time zone"):
                gate().gate("notes", "read", {}, approvals=Approvals(), now=now)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "found `x`, expected one of `allow`"):
            callgate.map(gate(), only=["x"])  # type: ignore[list-item]

    def test_every_fault_of_a_document_has_its_place(self) -> None:
        with self.assertRaises(DocumentError) as caught:
            Gate(policy={"rules": [{"name": 1}], "x": 1}, annotations=ANNOTATIONS)
        self.assertIsInstance(caught.exception, CallgateError)
        places = {fault["path"]: fault for fault in caught.exception.diagnostics}
        self.assertEqual(set(places), {"policy.x", "policy.rules[0].name", "policy.rules[0]"})
        self.assertEqual(places["policy.x"]["severity"], "warning")
        self.assertEqual(places["policy.rules[0].name"]["code"], "wrong-type")
        self.assertEqual((places["policy.rules[0].name"]["line"], places["policy.rules[0].name"]["column"]), (1, 19))

    def test_a_document_that_no_gate_has(self) -> None:
        for name in ("polic", "policyX", "protectedPaths"):
            with self.subTest(name=name), self.assertRaisesRegex(TypeError, name):
                Gate(**{name: {}})  # type: ignore[arg-type]

    def test_a_bundle_that_is_not_there(self) -> None:
        with self.assertRaises(DocumentError) as caught:
            Gate.from_bundle("/no/such/callgate.json")
        self.assertEqual(caught.exception.diagnostics[0]["file"], "/no/such/callgate.json")

    def test_what_is_no_call_names_its_place(self) -> None:
        deep: Any = 1
        for _ in range(600):
            deep = [deep]
        endless: dict[str, Any] = {}
        endless["x"] = endless
        for arguments, message in (
            ({"a": [1, {"b": float("nan")}]}, "arguments/a/1/b: NaN"),
            ({"a": float("inf")}, "arguments/a: inf"),
            ({"a/b": object()}, "arguments/a~1b: found `object`"),
            ({"a": {1: 2}}, "arguments/a: a key is `int`"),
            ({"a": b"x"}, "arguments/a: found `bytes`"),
            ({"a": {1}}, "arguments/a: found `set`"),
            ({"a": deep}, "nested deeper than 512"),
            (endless, "nested deeper than 512"),
        ):
            with self.subTest(message=message), self.assertRaises(CallError) as caught:
                gate().gate("notes", "read", arguments)
            self.assertIn(message, str(caught.exception))

    def test_names_that_are_not_text(self) -> None:
        for names in ((None, "read"), ("notes", None), (b"notes", "read")):
            with self.subTest(names=names), self.assertRaises(TypeError):
                gate().gate(*names, {})


class Values(unittest.TestCase):
    def test_integers_keep_all_their_digits(self) -> None:
        for number in (2**53 + 1, -(2**64), 10**400):
            response = gate().gate("notes", "write", {**WRITE[1], "text": number})
            self.assertEqual(response.arguments["text"], number)
            self.assertIn(str(number), response.arguments_json)

    def test_numbers_and_truths_stay_what_they_are(self) -> None:
        for value in (1, 1.0, True, None, "", [], {}, 1e300, -0.0):
            sent = gate().gate("notes", "write", {**WRITE[1], "text": value}).arguments["text"]
            self.assertEqual((type(sent), repr(sent)), (type(value), repr(value)))

    def test_halves_of_surrogate_pairs(self) -> None:
        response = gate().gate("notes", "write", {**WRITE[1], "text": "\ud83d"})
        self.assertEqual(response.arguments["text"], "\ud83d")
        verdict = gate().gate("notes", "read", {"path": "/home/u/notes/\ud800.md"}).verdict
        self.assertEqual((verdict.decision, verdict.rule), ("deny", "structural-unresolvable-value"))

    def test_arguments_that_are_no_object(self) -> None:
        verdict = gate().gate("notes", "read", ["/home/u/notes/a.md"]).verdict
        self.assertEqual((verdict.decision, verdict.rule), ("deny", "structural-unreadable-argument"))

    def test_a_verdict_is_neither_true_nor_false(self) -> None:
        response = gate().gate("notes", *KEYS)
        for value in (response, response.verdict):
            with self.assertRaisesRegex(TypeError, "neither true nor false"):
                bool(value)
            self.assertIs(value.is_allowed, False)
        self.assertEqual(response.verdict.to_dict(), {"decision": "deny", "rule": "keys", "reason": "keys are private"})

    def test_nothing_can_be_set(self) -> None:
        response = gate().gate("notes", *KEYS)
        for value, name in ((response, "verdict"), (response, "arguments"), (response.verdict, "decision")):
            with self.subTest(name=name), self.assertRaises(AttributeError):
                setattr(value, name, "allow")


class OfAPerson(unittest.TestCase):
    def test_an_approval_covers_until_it_expires(self) -> None:
        approvals = Approvals()
        id = approvals.add({**gate().offer("notes", *WRITE), "expiresAt": "2026-11-27T12:00:00Z"})
        utc, berlin = datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=1))
        for now, decision in (
            ("2026-11-27T11:59:59Z", "allow"),
            ("2026-11-27T12:00:00Z", "escalate"),
            (datetime.datetime(2026, 11, 27, 11, 59, tzinfo=utc), "allow"),
            (datetime.datetime(2026, 11, 27, 12, 59, tzinfo=berlin), "allow"),
            (datetime.datetime(2026, 11, 27, 13, tzinfo=berlin), "escalate"),
            ("2036-01-01T00:00:00Z", "escalate"),
        ):
            with self.subTest(now=now):
                verdict = gate().gate("notes", *WRITE, approvals=approvals, now=now).verdict
                self.assertEqual(verdict.decision, decision)
                self.assertEqual(verdict.approval, id if decision == "allow" else None)
        for now in ("x", datetime.datetime(2026, 11, 27, 11), ""):
            with self.subTest(now=now), self.assertRaises(ValueError):
                gate().gate("notes", *WRITE, approvals=approvals, now=now)

    def test_approvals_are_written_and_read_and_removed(self) -> None:
        approvals = Approvals()
        id = approvals.add(gate().offer("notes", *WRITE))
        read = Approvals.from_json(approvals.to_json())
        self.assertEqual((read.entries(), len(read)), (approvals.entries(), 1))
        self.assertEqual(read.entries()[0]["id"], id)
        self.assertTrue(gate().gate("notes", *WRITE, approvals=read).is_allowed)
        self.assertEqual((read.remove(id), read.remove(id), len(read)), (True, False, 0))
        self.assertFalse(gate().gate("notes", *WRITE, approvals=read).is_allowed)

    def test_what_is_denied_or_allowed_is_not_offered(self) -> None:
        self.assertIsNone(gate().offer("notes", *KEYS))
        self.assertIsNone(gate().offer("notes", *READ))
        for text in ("[]", "{}", '{"format": "approvals/2", "entries": []}', "{"):
            with self.subTest(text=text), self.assertRaises(DocumentError):
                Approvals.from_json(text)


class Own:
    """A host in Python, which answers `realpath` as it is told once it is asked about a call."""

    home_dir = current_dir = "/home/u"

    def __init__(self) -> None:
        self.answer: Any = lambda path: path

    def realpath(self, path: str) -> Any:
        return self.answer(path)

    def read_link(self, path: str) -> None:
        return None

    def is_directory(self, path: str) -> bool:
        return path in ("/", "/home", "/home/u", "/home/u/notes")

    def nothing(self, *_: str) -> list[str]:
        return []

    git_remote_urls = git_default_remote_urls = git_url = git_push_refs = nothing

    def git_branch(self, _: str) -> str:
        return ""

    def git_check_ignore(self, _: str) -> None:
        return None


class Hosts(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Own()
        self.gate = Gate(policy=POLICY, annotations=ANNOTATIONS, host=self.host)

    def verdict(self, answer: Any) -> Any:
        self.host.answer = answer
        return self.gate.gate("notes", *READ).verdict

    def test_names_in_another_case(self) -> None:
        """Without a word about it they may be one file, and a comparison that can deny folds them."""
        for says, rule in ((None, "structural-protected-path"), (True, "structural-protected-path"), (False, "default-deny")):
            with self.subTest(says=says):
                host = Own()
                if says is not None:
                    host.ignores_path_case = says  # type: ignore[attr-defined]
                gate = Gate(policy=POLICY, annotations=ANNOTATIONS, protected_paths=["/srv/Keys"], host=host)
                self.assertEqual(gate.gate("notes", "read", {"path": "/srv/KEYS"}).verdict.rule, rule)

    def test_an_honest_host(self) -> None:
        self.assertTrue(self.verdict(lambda path: path).is_allowed)

    def test_what_raises_or_answers_another_type_denies(self) -> None:
        for answer, reason in (
            (lambda _: 1 / 0, "realpath raised ZeroDivisionError"),
            (lambda _: raises(HostError("the disk is gone")), "the disk is gone"),
            (lambda _: raises(TimeoutError("late")), "late"),
            (lambda _: raises(SystemExit(3)), "was interrupted"),
            (lambda _: None, "realpath answered None, expected str"),
            (lambda _: 7, "realpath answered 7, expected str"),
            (lambda _: b"/home/u/notes/a.md", "expected str"),
            (lambda _: "notes/a.md", "expected an absolute path"),
            (lambda _: "/home/u/keys/../notes/a.md", "expected an absolute path"),
        ):
            with self.subTest(reason=reason):
                verdict = self.verdict(answer)
                self.assertEqual((verdict.decision, verdict.rule), ("deny", "structural-host-error"))
                self.assertIn(reason, verdict.reason)

    def test_a_host_that_is_not_one(self) -> None:
        with self.assertRaisesRegex(HostError, "realpath"):
            Gate(policy=POLICY, annotations=ANNOTATIONS, host=object())  # type: ignore[arg-type]

    def test_an_interruption_ends_the_call_and_not_the_denial(self) -> None:
        with self.assertRaises(KeyboardInterrupt):
            self.verdict(lambda _: raises(KeyboardInterrupt()))
        self.assertTrue(self.verdict(lambda path: path).is_allowed)

    def test_a_host_may_ask_its_own_gate(self) -> None:
        def answer(path: str) -> str:
            self.host.answer = lambda path: path
            self.assertEqual(self.gate.gate("notes", *KEYS).verdict.rule, "keys")
            return path

        self.assertTrue(self.verdict(answer).is_allowed)


class Threads(unittest.TestCase):
    def test_threads_share_a_gate_and_approvals(self) -> None:
        shared, approvals, wrong = gate(), Approvals(), []
        approvals.add(shared.offer("notes", *WRITE))

        def run(at: int) -> None:
            for turn in range(200):
                name = f"{at}-{turn}.md"
                read = shared.gate("notes", "read", {"path": f"~/notes/{name}"})
                written = shared.gate("notes", "write", {"path": f"~/notes/{name}", "text": name}, approvals=approvals)
                denied = shared.gate("notes", *KEYS)
                if (read.arguments, read.is_allowed, written.is_allowed, denied.verdict.rule) != (
                    {"path": f"/home/u/notes/{name}"}, True, True, "keys",
                ):
                    wrong.append(name)

        threads = [threading.Thread(target=run, args=(at,)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Analysis(unittest.TestCase):
    def test_a_policy_as_a_whole(self) -> None:
        other = Gate(policy={"rules": POLICY["rules"][1:]}, annotations=ANNOTATIONS, host=virtual_host({"home": "/home/u", "cwd": "/home/u"}))
        self.assertEqual(callgate.lint(gate()), [])
        self.assertEqual(callgate.check(gate()), [])
        self.assertEqual({entry["toolName"] for entry in callgate.map(gate())}, {"read", "write"})
        rows = callgate.map(gate(), tools=["read"], only=["allow"])[0]["rows"]
        self.assertEqual({row["decision"] for row in rows}, {"allow"})
        self.assertTrue(callgate.diff(gate(), gate())[-1]["equal"])
        self.assertEqual(callgate.diff(gate(), other)[0]["otherRule"][0]["before"]["rule"], "keys")
        with self.assertRaises(CallgateError):
            callgate.map(gate(), tools=["nothing"])

    def test_annotations_are_drafted(self) -> None:
        tool = {"name": "read_file", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}
        drafted = callgate.propose_annotations([tool], "files")
        self.assertIn("read_file", str(drafted))

    def test_what_the_gate_says_of_itself(self) -> None:
        self.assertEqual(sorted(gate().tools()), [("notes", "read"), ("notes", "write")])
        self.assertIsNone(gate().semantics("notes", "added"))
        self.assertEqual(gate().explain("notes", *WRITE)["verdict"]["rule"], "writing")
        self.assertEqual(gate().gate("notes", *WRITE).arguments, WRITE_AS_JUDGED[1])


class Stubs(unittest.TestCase):
    """The stubs say what the module has, name by name and parameter by parameter."""

    def setUp(self) -> None:
        stubs = Path(callgate.__file__).with_name("_engine.pyi")
        nodes = ast.parse(stubs.read_text()).body
        is_type = ("Protocol", "TypedDict")
        self.classes = [node for node in nodes if isinstance(node, ast.ClassDef)
                        and not any(isinstance(base, ast.Name) and base.id in is_type for base in node.bases)]
        self.functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]

    def check(self, stub: ast.FunctionDef, found: Any, is_bound: bool) -> None:
        given = inspect.signature(found)
        parameters = [(each.name, each.kind) for each in given.parameters.values()]
        kind = inspect.Parameter
        positional = [each.arg for each in [*stub.args.posonlyargs, *stub.args.args]][1 if is_bound else 0:]
        expected = [(name, kind.POSITIONAL_OR_KEYWORD) for name in positional]
        expected += [(each.arg, kind.KEYWORD_ONLY) for each in stub.args.kwonlyargs]
        if any(each.kind == kind.VAR_KEYWORD for each in given.parameters.values()):
            # The documents of a gate: the module takes them by name, and refuses any other name.
            parameters = [each for each in parameters if each[1] != kind.VAR_KEYWORD]
            self.assertEqual(parameters, [each for each in expected if each in parameters])
            return
        self.assertEqual([each for each in parameters if each[0] != "self"], expected, stub.name)
        defaults = {each.name for each in given.parameters.values() if each.default is not kind.empty}
        optional = {name for name, _ in expected[len(positional) - len(stub.args.defaults):len(positional)]}
        optional |= {each.arg for each, value in zip(stub.args.kwonlyargs, stub.args.kw_defaults) if value is not None}
        self.assertEqual(defaults, optional, stub.name)

    def test_classes(self) -> None:
        for stub in self.classes:
            found = getattr(callgate, stub.name)
            methods = [node for node in stub.body if isinstance(node, ast.FunctionDef)]
            if methods:
                own = {name for name in vars(found) if not name.startswith("_")}
                self.assertEqual(own, {node.name for node in methods if not node.name.startswith("_")}, stub.name)
            for node in methods:
                decorators = {getattr(each, "id", "") for each in node.decorator_list}
                with self.subTest(name=f"{stub.name}.{node.name}"):
                    if "property" in decorators:
                        self.assertTrue(inspect.isgetsetdescriptor(getattr(found, node.name)))
                    elif node.name == "__new__":
                        self.check(node, found, is_bound=True)
                    elif node.name != "__len__":
                        self.check(node, getattr(found, node.name), is_bound="staticmethod" not in decorators)

    def test_functions(self) -> None:
        for stub in self.functions:
            with self.subTest(name=stub.name):
                self.check(stub, getattr(callgate, stub.name), is_bound=False)

    def test_everything_public_is_documented_and_exported(self) -> None:
        for name in callgate.__all__:
            self.assertTrue(getattr(callgate, name).__doc__, name)
        stubbed = {stub.name for stub in [*self.classes, *self.functions]}
        self.assertEqual(stubbed | {"Host", "__version__"}, set(callgate.__all__))


if __name__ == "__main__":
    unittest.main()
