"""Findings are printed with file, line and column, as `kinwire breaking` prints changes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.commands.watching import watch
from kinwire_codegen.lint import lint
from kinwire_codegen.load.finding_lines import finding_lines
from kinwire_codegen.load.findings import DocumentError, Finding
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import SCHEMA, protocol

PLACE = re.compile(r"(.+?):(\d+):(\d+): (?:(/\S*): )?(.+)")


def write(folder: Path, text: str) -> Path:
    for shared in ("meta.schema.json", "jsonrpc.json"):
        (folder / shared).write_bytes((SCHEMA / shared).read_bytes())
    path = folder / "toy.json"
    path.write_text(text, encoding="utf-8")
    return path


def lines_of(folder: Path) -> list[str]:
    """Return the lines for what is wrong with the documents in a folder."""
    try:
        documents = load_documents(folder)
    except DocumentError as error:
        return finding_lines(error)
    return finding_lines(DocumentError(lint(documents), documents.folder))


def thing(**members: Any) -> dict[str, Any]:
    return {"Thing": {"description": "A type.", "type": "object", "properties": members}}


BAD = [
    pytest.param(
        protocol(types=thing(a={"$ref": "#/$defs/Nope"})),
        '"$ref": "#/$defs/Nope"',
        "'Nope' is not a definition. Define it under $defs.",
        id="a reference",
    ),
    pytest.param(
        protocol(types=thing(a={"type": "strin"})),
        '"type": "strin"',
        "'strin' is not one of",
        id="a value that the meta-schema refuses",
    ),
    pytest.param(
        protocol(types={}) | {"surprise": 1},
        '"surprise"',
        "Additional properties are not allowed",
        id="a name that the meta-schema does not have",
    ),
    pytest.param(
        protocol(types={"a-b": {"description": "A type."}}),
        '"a-b"',
        "'a-b' does not match",
        id="a name that is not written as it should be",
    ),
    pytest.param(
        protocol(types=thing(a={"type": "array", "items": {"type": "string", "maxItems": 1}})),
        '"maxItems"',
        "maxItems does not apply to the type string.",
        id="a type inside another",
    ),
]


@pytest.mark.parametrize(("content", "at", "what"), BAD)
def test_a_finding_has_the_line_and_the_column_of_its_place(
    content: dict[str, Any], at: str, what: str, tmp_path: Path
) -> None:
    path = write(tmp_path, json.dumps(content, indent=2))
    (line,) = lines_of(tmp_path)
    found = PLACE.fullmatch(line)
    assert found is not None, line
    file, number, column, pointer, text = found.groups()
    assert file == str(path)
    assert path.read_text().splitlines()[int(number) - 1][int(column) - 1 :].startswith(at)
    assert pointer.rpartition("/")[2] == json.loads(at.partition(":")[0])
    assert text.startswith(what)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1,\n  "b" 2\n}', ":3:7: "),
        ('{\n  "a": {"b": 1},\n  "c": {"b": 1, "b": 2}\n}', ":3:17: "),
        ("", ":1:1: "),
        ('{"a": 1e999}', ":1:1: "),
    ],
    ids=["not JSON", "a name twice in one object", "empty", "a number that is too large"],
)
def test_what_cannot_be_read_has_the_place_where_reading_ends(
    text: str, place: str, tmp_path: Path
) -> None:
    path = write(tmp_path, text)
    (line,) = lines_of(tmp_path)
    assert line.startswith(f"{path}{place}cannot be read as JSON: ")


def test_a_file_that_is_not_text_is_named_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.write_bytes(b"\xff")
    (line,) = lines_of(tmp_path)
    assert line.startswith(f"{path}: cannot be read as JSON: ")


def test_findings_are_in_the_order_of_the_lines(tmp_path: Path) -> None:
    members = {f"m{number}": {"$ref": "#/$defs/Nope"} for number in range(12)}
    write(tmp_path, json.dumps(protocol(types=thing(**members)), indent=2))
    numbers = [int(line.split(":")[1]) for line in lines_of(tmp_path)]
    assert len(numbers) == 12
    assert numbers == sorted(numbers)


def test_a_document_of_the_installed_package_has_a_pointer_alone() -> None:
    finding = Finding("mcp.json", "/methods/ping", "it is odd", "Change it.")
    assert finding_lines(DocumentError([finding])) == [str(finding)]


def test_a_watch_prints_the_place_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "{")

    def make() -> Any:
        load_documents(tmp_path)

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinwire_codegen.commands.watching.time.sleep", stop)
        with pytest.raises(KeyboardInterrupt):
            watch(tmp_path, make, tmp_path)
    assert f" {path}:1:2: cannot be read as JSON" in capsys.readouterr().out
