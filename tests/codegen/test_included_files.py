"""Documents of several files: what is one document, and where its findings are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.command import main
from kinwire_codegen.lint import lint
from kinwire_codegen.load.finding_lines import finding_lines
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import load_documents
from tests.codegen.compare.documents import edited, toy
from tests.codegen.compare.test_commands import git, stricter
from tests.codegen.documents import SCHEMA

TEXT = {"description": "Text.", "type": "string"}


def split(folder: Path, content: dict[str, Any], *tables: str) -> Path:
    """Write a document whose `tables` are in a file that it includes; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {key: value for key, value in content.items() if key not in tables}
    part = {key: content[key] for key in tables if key in content}
    path = folder / f"{content['protocol']}.json"
    path.write_text(json.dumps(own | {"include": ["more.json"]}, indent=2), encoding="utf-8")
    (folder / "more.json").write_text(json.dumps(part, indent=2), encoding="utf-8")
    (folder / "meta.schema.json").write_bytes((SCHEMA / "meta.schema.json").read_bytes())
    return path


def lines(folder: Path) -> list[str]:
    """Return what is wrong with the documents of a folder, with paths relative to it."""
    try:
        error = DocumentError(lint(load_documents(folder)), folder)
    except DocumentError as refused:
        error = refused
    return [line.removeprefix(f"{folder}/") for line in finding_lines(error)]


def test_a_document_of_several_files_is_the_same_as_one_of_one_file(tmp_path: Path) -> None:
    content = toy()
    split(tmp_path, content, "methods", "$defs")
    found = load_documents(tmp_path)
    assert found.chosen == ("toy",)
    assert found["toy"].content == content
    assert lines(tmp_path) == []


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(
            {"$defs": {"Odd": {**TEXT, "maximum": 1}}},
            [
                r"more\.json:3:5: /\$defs/Odd: 'Odd' is used nowhere\. .*",
                r"more\.json:6:7: /\$defs/Odd/maximum: maximum does not apply .*",
            ],
            id="a fault in an included file",
        ),
        pytest.param(
            {"$defs": {"Odd": TEXT | {"desciption": "x"}}},
            [r"more\.json:\d+:7: /\$defs/Odd/desciption: .* Did you mean 'description'\?"],
            id="a name that the meta-schema does not have",
        ),
        pytest.param(
            {"title": "Odd"},
            [r"more\.json:2:3: /title: Additional properties are not allowed .*"],
            id="a field that only a document has",
        ),
        pytest.param(
            {"$defs": {"AskParams": TEXT}},
            [r"more\.json:3:5: /\$defs/AskParams: 'AskParams' is also in toy\.json\. Rename .*"],
            id="a name that occurs twice",
        ),
        pytest.param(
            None,
            [r"toy\.json:\d+:5: /include/0: there is no file 'more\.json'\. Add it next to .*"],
            id="a file that is missing",
        ),
    ],
)
def test_findings_name_the_included_file_and_the_line(
    part: dict[str, Any] | None, expected: list[str], tmp_path: Path
) -> None:
    split(tmp_path, toy())
    more = tmp_path / "more.json"
    if part is None:
        more.unlink()
    else:
        more.write_text(json.dumps(part, indent=2), encoding="utf-8")
    found = lines(tmp_path)
    assert len(found) == len(expected), found
    for line, pattern in zip(found, expected, strict=True):
        assert re.fullmatch(pattern, line), line


def test_augments_of_all_files_are_added_together(tmp_path: Path) -> None:
    def augment(member: str, **more: Any) -> dict[str, Any]:
        row = {"to": {"every": "params"}, "member": member, "schema": {"$ref": "#/$defs/Ask"}}
        return row | {"from": "client", "section": "1", "summary": "More."} | more

    split(tmp_path, toy() | {"augments": [augment("a")]})
    part = {"augments": [augment("b"), augment("c", errors=["Nope"])]}
    (tmp_path / "more.json").write_text(json.dumps(part, indent=2), encoding="utf-8")
    assert [row["member"] for row in load_documents(tmp_path)["toy"].augments] == ["a", "b", "c"]
    found = [line.partition(": ")[2] for line in lines(tmp_path) if line.startswith("more.json")]
    assert any(line.startswith("/augments/1/errors/0: 'Nope'") for line in found), found


def test_a_file_that_nothing_includes_is_a_finding(tmp_path: Path) -> None:
    split(tmp_path, toy())
    (tmp_path / "more.json").write_text("{}", encoding="utf-8")
    (tmp_path / "lost.json").write_text(json.dumps({"$defs": {"Lost": TEXT}}), encoding="utf-8")
    assert lines(tmp_path) == [
        "lost.json:1:1: it is not a protocol document, and no document includes it."
        ' Name it in the "include" of a document, or complete it.'
    ]


@pytest.mark.parametrize("whole", [True, False], ids=["a folder", "a file"])
def test_breaking_reads_included_files_of_a_commit_and_names_their_lines(
    whole: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = split(tmp_path / "spec", toy(), "$defs")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "--all", ".")
    git(tmp_path, "commit", "-q", "-m", "v1")
    split(tmp_path / "spec", edited(toy(), stricter), "$defs")
    assert main(["breaking", "--against", "HEAD", str(path.parent if whole else path)]) == 1
    said = capsys.readouterr().out
    assert "B305 wire breaking: AskParams.b is required now" in said
    assert re.search(r"spec/more\.json:\d+:\d+: ", said), said
