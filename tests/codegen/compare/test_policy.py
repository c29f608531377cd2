"""The policy of `kinwire breaking`: severities, accepted findings, versions, and its file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.commands.policy_file import (
    POLICY_FILE,
    PolicyError,
    accept,
    read_policy,
)
from kinwire_codegen.compare.policy import AcceptedFinding, FindingKey
from kinwire_codegen.compare.rules import RULES
from tests.codegen.compare.documents import Node, edited, toy
from tests.codegen.compare.test_commands import git, stricter, write
from tests.codegen.test_commands import Done, kinwire
from tests.each import each

Breaking = Callable[..., Done]


@pytest.fixture
def breaking(tmp_path: Path) -> Breaking:
    """Run the subcommand on the toy, which asks more of old senders now."""
    write(tmp_path / "old" / "toy.json", toy())
    write(tmp_path / "schema" / "toy.json", edited(toy(), stricter))
    (tmp_path / ".git").mkdir()  # the search for a policy ends here

    def run(*arguments: str, against: str = "old", path: str = "schema") -> Done:
        return kinwire("breaking", "--against", against, path, *arguments, cwd=tmp_path)

    return run


def policy(folder: Path, text: str) -> Path:
    path = folder / POLICY_FILE
    path.write_text(text, encoding="utf-8")
    return path


def test_an_accepted_finding_is_shown_with_its_reason_and_does_not_fail(
    breaking: Breaking, tmp_path: Path
) -> None:
    assert breaking().returncode == 1
    done = breaking("--accept", "no client sends it yet")
    assert done.returncode == 0
    assert done.stderr == f"accepted: 1 finding, in schema/{POLICY_FILE}\n"
    assert "B305 wire accepted: AskParams.b is required now\n" in done.stdout
    assert "    reason: no client sends it yet\n" in done.stdout
    assert "0 breaking, 0 warnings, 0 safe, 1 accepted   (against" in done.stdout
    content = tomllib.loads((tmp_path / "schema" / POLICY_FILE).read_text())
    assert content == {
        "accepted": [
            {
                "rule": "B305",
                "protocol": "toy",
                "pointer": "/$defs/AskParams/properties/b",
                "what": "AskParams.b is required now",
                "reason": "no client sends it yet",
            }
        ]
    }
    again = breaking()
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert again.stderr == f"policy: schema/{POLICY_FILE}\n"


def test_a_finding_stays_accepted_when_its_line_or_level_changes(
    breaking: Breaking, tmp_path: Path
) -> None:
    breaking("--accept", "agreed")
    path = tmp_path / "schema" / "toy.json"
    path.write_text("\n" * 7 + path.read_text())
    assert breaking().returncode == 0
    there = tmp_path / "schema" / POLICY_FILE
    there.write_text('[severities]\nB305 = "warning"\n\n' + there.read_text())
    done = breaking()
    assert (done.returncode, "1 accepted" in done.stdout) == (0, True)
    assert "no longer occurs" not in done.stderr


def test_only_the_findings_of_the_named_rules_are_accepted(
    breaking: Breaking, tmp_path: Path
) -> None:
    def edit(content: Node) -> None:
        stricter(content)
        content["$defs"]["AskResult"]["required"] = []
        content["$defs"]["AskParams"]["properties"]["a"]["default"] = 5

    write(tmp_path / "schema" / "toy.json", edited(toy(), edit))
    first = json.loads(breaking("--format", "json").stdout)["summary"]
    done = breaking("--accept", "agreed", "--only", "member-now-required", "--format", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["summary"] == first | {"accepted": 1, "breaking": first["breaking"] - 1}
    assert [one["rule"] for one in found["changes"] if one["accepted"]] == ["B305"]
    warned = breaking("--accept", "agreed", "--only", "b318")  # the default, a warning
    assert "B318 wire accepted" in warned.stdout
    assert breaking("--accept", "agreed").returncode == 0


def test_what_another_run_has_accepted_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / POLICY_FILE
    one, other = (
        AcceptedFinding(FindingKey("B305", "toy", pointer, "is required now"), "agreed")
        for pointer in ("/a", "/b")
    )
    accept(path, [one])
    accept(path, [one, other])
    assert read_policy(path).accepted == (one, other)


def test_stale_findings_are_reported_and_pruned(breaking: Breaking, tmp_path: Path) -> None:
    path = policy(
        tmp_path,
        """\
# Ours.
[[accepted]]  # kept
rule = "B305"
protocol = "toy"
pointer = "/$defs/AskParams/properties/b"
what = "AskParams.b is required now"
reason = "agreed"

# An old one.
[[accepted]]
rule = "required-member-added"
protocol = "toy"
pointer = "/$defs/AskParams/properties/z"
what = "AskParams.z is gone"
reason = '''
two
lines'''
by = "me"
date = 2026-01-31

[severities] # too
B318 = "safe"
""",
    )
    stale = f"{POLICY_FILE}: an accepted finding no longer occurs: B301 toy: AskParams.z is gone\n"
    done = breaking()
    assert done.returncode == 0
    assert done.stderr == f"policy: {POLICY_FILE}\n{stale}hint: --prune removes it.\n"
    found = json.loads(breaking("--format", "json").stdout)["stale"]
    assert [(one["reason"], one["by"], one["date"]) for one in found] == [
        ("two\nlines", "me", "2026-01-31")
    ]
    assert f"::warning file={POLICY_FILE}::" in breaking("--format", "github").stdout
    # What another document accepts is not looked for where one document is compared.
    other = write(tmp_path / "other.json", toy() | {"protocol": "other"})
    alone = breaking(against="other.json", path=other.name)
    assert "no longer occurs" not in alone.stderr

    done = breaking("--prune")
    assert (done.returncode, stale in done.stderr) == (0, False)
    assert f"removed: 1 finding, from {POLICY_FILE}\n" in done.stderr
    text = path.read_text()
    assert "AskParams.z" not in text
    assert text.startswith("# Ours.\n[[accepted]]  # kept\n")
    assert text.endswith('[severities] # too\nB318 = "safe"\n')
    assert len(read_policy(path).accepted) == 1


@each(
    ("rule", "level", "code", "shown"),
    [
        ("B305", "warning", 0, "0 breaking, 1 warning, 0 safe"),
        ("member-now-required", "safe", 0, "0 breaking, 0 warnings, 1 safe"),
        ("B305", "breaking", 1, "1 breaking, 0 warnings, 0 safe"),
        ("B306", "safe", 1, "1 breaking, 0 warnings, 0 safe"),
    ],
)
def test_a_rule_has_the_severity_that_the_policy_names(
    rule: str, level: str, code: int, shown: str, breaking: Breaking, tmp_path: Path
) -> None:
    policy(tmp_path, f'[severities]\n{rule} = "{level}"\n')
    done = breaking()
    assert done.returncode == code
    assert shown in done.stdout
    assert ("AskParams.b" in done.stdout) is (level != "safe" or rule != "member-now-required")


def test_a_safe_change_may_be_made_breaking(breaking: Breaking, tmp_path: Path) -> None:
    def edit(content: Node) -> None:
        content["$defs"]["AskParams"]["properties"]["z"] = {"type": "string", "description": "x"}

    write(tmp_path / "schema" / "toy.json", edited(toy(), edit))
    assert breaking().returncode == 0
    policy(tmp_path, '[severities]\nB302 = "breaking"\n')
    done = breaking()
    assert (done.returncode, "B302 wire breaking" in done.stdout) == (1, True)


@each(
    ("old", "new", "text", "code", "line"),
    [
        ("1.0.0", "2.0.0", "", 0, "toy rose from 1.0.0 to 2.0.0: what breaks is announced"),
        ("1.0.0", "1.0.1", "", 1, "toy rose from 1.0.0 to 1.0.1: what breaks needs 2.0.0"),
        ("1.0.0", "1.0.0", "", 1, "toy is still 1.0.0: what breaks needs 2.0.0"),
        ("1.0.0", "1.0.1", 'versions.toy = "any"', 0, "toy rose from 1.0.0 to 1.0.1: what br"),
        ("1.0.0", "1.0.1", 'versions.mcp = "any"', 1, "toy rose from 1.0.0 to 1.0.1: what br"),
        ("2024-11-05", "2025-03-26", "", 0, "toy rose from 2024-11-05 to 2025-03-26: what "),
    ],
)
def test_a_version_excuses_what_its_scheme_allows(
    old: str, new: str, text: str, code: int, line: str, breaking: Breaking, tmp_path: Path
) -> None:
    write(tmp_path / "old" / "toy.json", toy() | {"version": old})
    write(tmp_path / "schema" / "toy.json", edited(toy(), stricter) | {"version": new})
    policy(tmp_path, text)
    done = breaking()
    assert (done.returncode, line in done.stdout) == (code, True)


def test_additions_name_the_minor_version_that_they_need(
    breaking: Breaking, tmp_path: Path
) -> None:
    def edit(content: Node) -> None:
        content["$defs"]["AskParams"]["properties"]["z"] = {"type": "string", "description": "x"}

    for side, content in (("old", toy()), ("schema", edited(toy(), edit))):
        write(tmp_path / side / "toy.json", content | {"version": "1.3.2"})
    done = breaking()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\ntoy is still 1.3.2: what is new needs 1.4.0\n")
    found = json.loads(breaking("--format", "json").stdout)["protocols"]["toy"]
    assert found == {
        "from": "1.3.2",
        "to": "1.3.2",
        "versions": "semver",
        "announced": False,
        "needed": "1.4.0",
    }


def test_the_policy_is_looked_for_up_to_the_top_of_the_repository(
    breaking: Breaking, tmp_path: Path
) -> None:
    text = '[severities]\nB305 = "safe"\n'
    git(tmp_path, "init", "-q")
    policy(tmp_path, text)
    assert breaking().returncode == 0
    inner = tmp_path / "schema" / ".git"
    inner.mkdir()
    assert breaking().returncode == 1
    inner.rmdir()
    own = policy(tmp_path / "schema", '[severities]\nB305 = "breaking"\n')
    assert breaking().returncode == 1  # the nearest counts, alone
    named = tmp_path / "elsewhere.toml"
    named.write_text(text)
    done = breaking("--config", named.name)
    assert (done.returncode, done.stderr) == (0, "policy: elsewhere.toml\n")
    own.unlink()
    assert breaking("--config", "new.toml", "--accept", "agreed").returncode == 0
    assert (tmp_path / "new.toml").is_file()


@each(
    ("arguments", "says"),
    [
        (["--only", "B305"], "--only needs --accept.\nhint: Add --accept"),
        (["--accept", " "], "--accept has no reason.\nhint: Say why"),
        (["--accept", "x", "--only", "B3055"], "there is no rule 'B3055'.\nhint: Did you mean"),
        (["--config", "no.toml"], "no.toml: No such file or directory.\nhint: Name a policy"),
        (["--accept", "x", "--config", "no/no.toml"], "no/no.toml: No such file or directory.\n"),
        (["--accept", "x", "--config", "schema"], "schema: Is a directory.\nhint: "),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str], says: str, breaking: Breaking
) -> None:
    done = breaking(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


ENTRY = {"rule": "B305", "protocol": "toy", "pointer": "/a", "what": "it", "reason": "agreed"}


def entry(**changes: Any) -> str:
    found = {key: value for key, value in (ENTRY | changes).items() if value is not None}
    return "[[accepted]]\n" + "".join(f"{key} = {json.dumps(found[key])}\n" for key in found)


PROBLEMS = [
    ("severity = 1", "severity is not a known key.", "Did you mean 'severities'?"),
    ("severities = 5", "severities is not a table.", "Write [severities]"),
    ('severities.B999 = "safe"', "severities.B999: there is no rule 'B999'.", ""),
    ('severities.variant-aded = "safe"', "there is no rule 'variant-aded'", "'variant-added'?"),
    ('severities.B305 = "save"', "'save' is not one of safe, warning or breaking", "'safe'?"),
    ("severities.B305 = 1", "1 is not one of safe, warning or breaking.", "Write safe, "),
    (
        'severities = { B305 = "safe", member-now-required = "safe" }',
        "severities.member-now-required: it is the same rule as B305.",
        "Remove one",
    ),
    ('versions = "calver"', "'calver' is not one of semver, date or any.", "Write semver, "),
    ('versions.mcp = "dates"', "versions.mcp: 'dates' is not one of", "Did you mean 'date'?"),
    ("versions = [1]", "versions: [1] is not one of semver, date or any.", ""),
    ("accepted = 5", "accepted is not a list of tables.", "[[accepted]]"),
    (entry(reason=None), "accepted finding 1: reason is missing or not a text.", "Write reason"),
    (entry(reason=" "), "accepted finding 1: reason is missing or not a text.", ""),
    (entry(what=5), "accepted finding 1: what is missing or not a text.", ""),
    (entry() + entry(rule="B3"), "accepted finding 2: there is no rule 'B3'.", ""),
    (entry() + entry(), "accepted finding 2: it is the same as number 1.", "Remove one"),
    (entry(why="x"), "accepted finding 1: why is not a known key.", ""),
    (entry(by=5), "accepted finding 1: by is not a text.", ""),
    (entry(date=5), "accepted finding 1: date is neither a date nor a text.", ""),
    ('site = "docs"', "site is not an address that begins with https:// or http://.", ""),
    ("a = ", "it is not valid TOML: Invalid value (at end of document).", "Fix the file."),
    ("\ud800", "it is not UTF-8.", "Save it"),
    ("\ufeffsite = ''", "it begins with a byte order mark.", "Save it as UTF-8 without one."),
    (f"a = {'[' * 5000}{']' * 5000}", "not valid TOML: it is nested too deeply.", "Fix the file."),
    (f"a = {'9' * 5000}", "not valid TOML: a number has too many digits.", "Fix the file."),
    ("versions = 2026-01-31", "versions: 2026-01-31 is not one of semver, date or any.", ""),
]


@each(("text", "what", "hint"), PROBLEMS)
def test_a_policy_that_is_not_valid_is_refused_with_a_hint(
    text: str, what: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / POLICY_FILE
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(PolicyError) as caught:
        read_policy(path)
    ((told, then),) = caught.value.problems
    assert what in told
    assert hint in then
    assert told.count(str(path)) == 1


def test_all_problems_of_a_policy_are_reported_together(breaking: Breaking, tmp_path: Path) -> None:
    policy(tmp_path, 'severity = 1\nversions = "calver"\n' + entry(reason=None))
    done = breaking()
    assert (done.returncode, done.stderr.count("error: ")) == (2, 3)


@each("end", ["\n", "\r\n"])
def test_an_edit_of_the_policy_keeps_the_rest_of_it(
    end: str, breaking: Breaking, tmp_path: Path
) -> None:
    path = tmp_path / POLICY_FILE
    text = f"# One.{end}versions = 'any' # two{end}{end}[severities]{end}# three{end}"
    path.write_bytes(text.encode())
    assert breaking("--accept", "agreed").returncode == 0
    assert path.read_bytes().decode().startswith(text)
    assert breaking().returncode == 0
    path.unlink()


def test_a_file_that_cannot_be_edited_is_left_as_it_is(breaking: Breaking, tmp_path: Path) -> None:
    inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in ENTRY.items())
    text = f"accepted = [{{ {inline} }}]\n"
    path = policy(tmp_path, text)
    done = breaking("--accept", "agreed")
    assert (done.returncode, path.read_text()) == (2, text)
    assert "findings cannot be written to it.\nhint: Write each accepted finding" in done.stderr


def test_a_policy_is_replaced_whole_and_a_link_to_it_stays(
    breaking: Breaking, tmp_path: Path
) -> None:
    real = tmp_path / "real.toml"
    real.write_text("# Ours.\n")
    (tmp_path / POLICY_FILE).symlink_to(real)
    before = real.open()  # a file that is replaced is not written to
    assert breaking("--accept", "agreed").returncode == 0
    with before:
        assert before.read() == "# Ours.\n"
    assert (tmp_path / POLICY_FILE).is_symlink()
    assert len(read_policy(real).accepted) == 1


def test_every_rule_may_be_named_in_a_policy_by_id_and_by_name(tmp_path: Path) -> None:
    for names in (RULES, [rule.name for rule in RULES.values()]):
        lines = [f'{name} = "warning"\n' for name in names]
        found = read_policy(policy(tmp_path, "[severities]\n" + "".join(lines)))
        assert found.severities.keys() == RULES.keys()
