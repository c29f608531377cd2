"""`kinwire breaking`, `diff`, `rule` and `import` as a user runs them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.command import main
from kinwire_codegen.compare.rules import RULES
from tests.codegen.compare.documents import Node, edited, toy
from tests.codegen.imports.official import FOLDER, official
from tests.each import each


def write(path: Path, content: Node) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return path


def stricter(content: Node) -> None:
    content["$defs"]["AskParams"]["required"] = ["a", "b"]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders, the second of which asks more of old senders."""
    old = write(tmp_path / "old" / "toy.json", toy())
    new = write(tmp_path / "new" / "toy.json", edited(toy(), stricter))
    return old, new


TOLD = """\
{new}:90:7: B305 wire breaking: AskParams.b is required now
    breaks: old senders (guest)
    in:     ask params
    docs:   toy/methods/ask.md#params.b
1 breaking, 0 warnings, 0 safe   (against 1: {old})
toy is still 1: what breaks needs 2
"""


def test_breaking_changes_are_shown_with_place_rule_victims_and_page(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    assert main(["breaking", "--against", str(old.parent), str(new.parent)]) == 1
    out = capsys.readouterr().out
    line = next(
        number for number, text in enumerate(new.read_text().splitlines(), 1) if '"b"' in text
    )
    assert out == TOLD.format(new=new, old=old.parent).replace(":90:", f":{line}:").replace(
        ":7: B", ":9: B"
    )


def test_nobody_breaks_unannounced_once_the_version_rose(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    write(new, json.loads(new.read_text()) | {"version": "2"})
    assert main(["breaking", "--against", str(old), str(new)]) == 0
    assert capsys.readouterr().out.endswith(
        f"(against 1: {old})\ntoy rose from 1 to 2: what breaks is announced\n"
    )


def test_a_file_of_another_protocol_is_not_compared(
    sides: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path / "other.json", toy() | {"protocol": "other"})
    assert main(["breaking", "--against", str(sides[0]), str(other)]) == 1
    assert "B804 wire breaking: the protocol toy is gone" in capsys.readouterr().out


def test_programs_get_json(sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = sides
    assert main(["breaking", "--against", str(old), str(new), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["summary"] == {"safe": 0, "warning": 0, "breaking": 1, "accepted": 0}
    (change,) = found["changes"]
    assert change["pointer"] == "/$defs/AskParams/properties/b"
    assert change["breaks"] == [{"who": "old senders", "roles": ["guest"]}]


def test_pull_requests_get_annotations(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    assert main(["breaking", "--against", str(old), str(new), "--format", "github"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"::error file={new},line=")
    assert first.endswith(
        "title=B305 member-now-required::AskParams.b is required now. Breaks: old senders (guest)"
    )


def test_a_commit_gives_the_documents_of_the_same_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "spec" / "toy.json", toy())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "tag", "v1")
    write(path, edited(toy(), stricter))
    for beside in (path, path.parent):
        assert main(["breaking", "--against", "v1", str(beside)]) == 1
        assert capsys.readouterr().out.endswith(
            "0 safe   (against 1: v1)\ntoy is still 1: what breaks needs 2\n"
        )
    assert main(["breaking", "--against", "v1", str(path), "--category", "docs"]) == 0


UNREADABLE = {
    "empty": b"",
    "binary": bytes(range(256)),
    "utf-16": "{}".encode("utf-16"),
    "with a mark": b"\xef\xbb\xbf{}",
}


@pytest.mark.parametrize(
    ("against", "path", "says"),
    [
        ("nothing", "new", "nothing: no path or commit has that name.\nhint: "),
        ("--all", "new", "expected one argument"),
        ("", "new", "a side has no name."),
        ("old", "nowhere", "nowhere: there is no such file or folder."),
        (
            "list.json",
            "new",
            "list.json: it is not a protocol document.\nhint: kinwire import makes",
        ),
        ("new", "nan", "nan: it is not valid JSON: NaN is not JSON."),
        ("new", "nested", "nested: arrays and objects are nested more than 100 deep."),
        *[(name, "new", f"{name}: it is not valid JSON") for name in UNREADABLE],
        *[("new", name, f"{name}: it is not valid JSON") for name in UNREADABLE],
    ],
)
def test_a_side_that_is_not_there_is_named(
    against: str,
    path: str,
    says: str,
    sides: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "nan").write_text("NaN")
    (tmp_path / "nested").write_bytes(b"[" * 500_000 + b"]" * 500_000)
    for name, content in UNREADABLE.items():
        (tmp_path / name).write_bytes(content)
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["breaking", "--against", against, path])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert says in capsys.readouterr().err


def test_a_commit_outside_a_repository_is_reported(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(sides[0].parents[1]))
    assert main(["breaking", "--against", "v1", str(sides[1])]) == 2
    assert "is not in a git repository" in capsys.readouterr().err


@pytest.mark.parametrize("extends", [5, [5], ["../../toy"]])
def test_a_file_with_invalid_extends_is_a_finding_and_copies_nothing(
    extends: Any, sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    write(new, json.loads(new.read_text()) | {"extends": extends})
    main(["breaking", "--against", str(old), str(new)])
    said = capsys.readouterr()
    assert "Error" not in said.err
    if extends != ["../../toy"]:
        assert re.search(rf"^{new}:\d+:\d+: /extends", said.out)


def test_a_document_at_fault_is_a_finding(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    write(new, json.loads(new.read_text()) | {"surprise": 1})
    assert main(["breaking", "--against", str(old), str(new)]) == 1
    line = len(new.read_text().splitlines()) - 1
    told = f"{new}:{line}:3: /surprise: Additional properties are not allowed"
    assert capsys.readouterr().out.startswith(told)


def test_names_in_python_that_are_gone_are_reported_as_bindings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(content: Node) -> None:
        content["methods"]["asks"] = content["methods"].pop("ask")
        members = content["$defs"]["NotifiedParams"]["properties"]
        members["x"] = members.pop("b")

    old = write(tmp_path / "old" / "toy.json", toy())
    new = write(tmp_path / "new" / "toy.json", edited(toy(), edit))
    assert main(["breaking", "--category", "bindings", "--against", str(old), str(new)]) == 1
    out = capsys.readouterr().out
    assert "P106 bindings breaking: ask was ask in Python and is asks\n" in out
    assert "P111 bindings breaking: NotifiedParams.b is gone\n" in out


def test_a_changelog_says_once_what_is_gone_from_the_wire_and_from_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(content: Node) -> None:
        del content["methods"]["ask"]["errors"]
        del content["$defs"]["AskParams"]["properties"]["b"]

    old = write(tmp_path / "old" / "toy.json", edited(toy(), with_errors))
    new = write(tmp_path / "new" / "toy.json", edited(toy(), lambda one: edit(with_errors(one))))
    assert main(["diff", str(old), str(new)]) == 0
    told = [line.split(" (")[0] for line in capsys.readouterr().out.splitlines() if "gone" in line]
    assert told == ["  toy: AskParams.b is gone", "  toy: ask: the error Full is gone"]


def with_errors(content: Node) -> Node:
    content["methods"]["ask"]["errors"] = ["Full"]
    return content


def test_a_changelog_has_a_link_in_each_line(
    sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    assert main(["diff", str(old), str(new), "--format", "md", "--reference", "ref/"]) == 0
    assert capsys.readouterr().out == (
        "### Protocols\n\n#### Changed\n\n"
        "- toy: AskParams.b is required now ([B305](ref/toy/methods/ask.md#params.b))."
        " Breaks old senders (guest)\n"
    )
    assert main(["diff", str(old), str(new)]) == 0
    assert capsys.readouterr().out == (
        "Changed\n  toy: AskParams.b is required now (B305). Breaks old senders (guest)"
        "  [toy/methods/ask.md#params.b]\n"
    )
    assert main(["diff", str(old), str(old)]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(rule, marks=pytest.mark.slow) for rule in RULES), "b301", "variant-added"],
)
def test_every_rule_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", name]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) >= 4


@each(
    ("name", "hint"),
    [
        ("variant-aded", "Did you mean 'variant-added'?"),
        ("B999", "kinwire rule lists them."),
        ("", "kinwire rule lists them."),
        ("b50", "So begin: B501, B502, B503"),
        ("B10", "So begin: B101, B102, B103, "),
        ("Variant", "So begin: variant-removed, variant-added"),
    ],
)
def test_an_unknown_rule_is_reported_with_the_nearest(
    name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rule", name]) == 2
    said = f"error: there is no rule {name!r}.\nhint: {hint}"
    assert capsys.readouterr().err.startswith(said)


def test_the_page_of_a_rule_is_named_by_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for text, page in (
        (None, "rules/B305.html of the site that kinwire docs build --against REF writes"),
        ('site = "https://docs.example.org/x"', "https://docs.example.org/x/rules/B305.html"),
        ("site = 5", "rules/B305.html of the site"),
    ):
        if text is not None:
            Path("kinwire-breaking.toml").write_text(text)
        assert main(["rule", "B305"]) == 0
        assert f"\n\nPage: {page}" in capsys.readouterr().out


def test_the_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(RULES)


def test_official_schemas_are_imported_each_into_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    official("2024-11-05")
    files = [str(FOLDER / f"{version}.json") for version in ("2024-11-05", "2025-03-26")]
    command = ["import", "mcp-schema", *files, "--out", str(tmp_path)]
    assert main(command) == 1
    said = capsys.readouterr()
    assert (said.out, list(tmp_path.iterdir())) == ("", [])
    assert "nothing was written: 4 things of the source would be lost" in said.err
    assert main([*command, "--partial"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{tmp_path}/2024-11-05/mcp.json  2024-11-05  24 methods, 74 types",
        f"{tmp_path}/2025-03-26/mcp.json  2025-03-26  24 methods, 72 types",
    ]
    assert "left out: Cursor: no message contains it\n" in said.err
    assert main(["lint", "--schema", str(tmp_path / "2025-03-26")]) == 0


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("{", "2025-01-01.json", "it is not valid JSON"),
        ('{"a": 1, "a": 2}', "2025-01-01.json", "the member 'a' stands twice"),
        ("[" * 100_000, "2025-01-01.json", "are nested more than 100 deep"),
        ("{}", "2025-01-01.json", "it has no definition ClientRequest"),
        (
            '{"$defs": {"ClientRequest": {"anyOf": [{"$ref": "#/$defs/Nope"}]}}}',
            "2025-01-01.json",
            "the reference '#/$defs/Nope' leads to no definition.\nhint: Name another file",
        ),
        (
            '{"$defs": {"ClientRequest": {"anyOf": [{"properties": 5}]}}}',
            "2025-01-01.json",
            "it is not a well-formed file of the kind mcp-schema.",
        ),
        ("{}", "x.json", "it has no definition ClientRequest"),
        (
            '{"$defs": {"ClientRequest": {"anyOf": []}}}',
            "x.json",
            "x.json: its version is unknown.\nhint: Pass --as-version.",
        ),
    ],
)
def test_a_file_that_nothing_can_be_made_of_is_named(
    text: str, name: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert main(["import", "mcp-schema", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("version", ["..", "../../up"])
def test_a_document_stays_in_the_folder_that_it_is_written_to(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    info = {"title": "../T", "version": version}
    write(tmp_path / "rpc.json", {"methods": [{"name": "notified", "params": []}], "info": info})
    out = tmp_path / "in" / "out"
    assert main(["import", "openrpc", str(tmp_path / "rpc.json"), "--out", str(out)]) == 0
    (made,) = tmp_path.glob("**/t.json")
    assert made.parents[1] == out


def test_an_imported_document_that_was_edited_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content: Any = {"methods": [{"name": "notified", "params": []}], "info": {"title": "T"}}
    write(tmp_path / "rpc.json", content)
    command = ["import", "openrpc", str(tmp_path / "rpc.json"), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert main(command) == 0
    (tmp_path / "out" / "1" / "t.json").write_text("{}")
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "t.json: it exists already and differs.\nhint: Choose another folder" in error
