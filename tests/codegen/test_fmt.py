"""The canonical layout of documents, and the subcommand that writes it."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.command import main
from kinwire_codegen.load.canonical import WIDTH, canonical
from tests.codegen.documents import SCHEMA, protocol

META = json.loads((SCHEMA / "meta.schema.json").read_text(encoding="utf-8"))
GOLDEN = Path(__file__).parent / "golden" / "schema"
OURS = sorted({*SCHEMA.glob("*.json"), *GOLDEN.glob("*.json")} - {SCHEMA / "meta.schema.json"})

LAID_OUT = """\
{
  "protocol": "toy",
  "methods": {
    "b": {
      "kind": "request",
      "params": "#/$defs/B"
    },
    "a": {
      "kind": "notification"
    }
  },
  "errors": {
    "Late": { "code": -1, "message": "Late", "x-odd": [] }
  },
  "$defs": {
    "B": {
      "description": "A type.",
      "type": "object",
      "properties": {
        "z": { "type": "string", "description": "Ä." },
        "a": { "enum": [10.0] }
      },
      "examples": [{ "z": "1", "a": 2 }]
    }
  },
  "x-odd": 1e3
}
"""


def shuffled(value: Any, order: random.Random) -> Any:
    """Return a value whose objects have their keys in another order, at any depth."""
    if isinstance(value, list):
        return [shuffled(inner, order) for inner in value]
    if not isinstance(value, dict):
        return value
    items = [(key, shuffled(inner, order)) for key, inner in value.items()]
    return dict(order.sample(items, len(items)))


def test_keys_are_in_the_order_of_the_meta_schema_and_entries_stay() -> None:
    kind = (
        r'{"examples":[{"z":"1","a":2}],"properties":{"z":{"description":"\u00c4.","type":"string"'
        '},"a":{"enum":[10.0]}},"type":"object","description":"A type."}'
    )
    error = '{"x-odd":[],"message":"Late","code":-1}'
    methods = '{"b":{"params":"#/$defs/B","kind":"request"},"a":{"kind":"notification"}}'
    text = f'{{"x-odd":1e3,"$defs":{{"B":{kind}}},"errors":{{"Late":{error}}},"methods":{methods},'
    assert canonical(text + '"protocol":"toy"}', META) == LAID_OUT


def test_an_object_is_on_one_line_as_long_as_it_fits() -> None:
    def written(length: int) -> str:
        text = json.dumps({"x-a": {"b": "c" * length}, "methods": {}})
        return canonical(text, META).splitlines()[2]

    longest = WIDTH - len('  "x-a": { "b": "" },')
    assert written(longest) == f'  "x-a": {{ "b": "{"c" * longest}" }}'
    assert written(longest + 1) == '  "x-a": {'


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_documents_have_the_layout_whatever_the_order_of_their_keys(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    part = '"protocol"' not in text
    assert canonical(text, META, part=part) == text
    other = json.dumps(shuffled(json.loads(text), random.Random(0)))
    assert json.loads(canonical(other, META, part=part)) == json.loads(text)


def test_fmt_writes_documents_and_what_they_include(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, other = tmp_path / "toy.json", tmp_path / "other.json"
    target = tmp_path / "elsewhere"
    target.write_text(json.dumps(protocol() | {"include": ["more.json"]}), encoding="utf-8")
    home.symlink_to(target)
    (tmp_path / "more.json").write_text('{"errors":{},\n"$schema":"x"}', encoding="utf-8")
    other.write_text('{"a":1}', encoding="utf-8")
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert said.startswith(
        f"2 files have another layout. Run kinwire fmt.\n  {tmp_path}/more.json\n  {home}\n\n"
    )
    removed = (
        '-{"errors":{},\n-"$schema":"x"}\n\\ No newline at end of file\n+{\n+  "$schema": "x",\n'
    )
    assert removed in said
    assert main(["fmt", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("2 files formatted, 0 unchanged\n")
    assert (tmp_path / "more.json").read_text() == '{\n  "$schema": "x",\n  "errors": {}\n}\n'
    assert os.path.islink(home)
    assert other.read_text() == '{"a":1}'
    assert main(["fmt", "--check", str(home)]) == 0
    assert capsys.readouterr().out == "1 file in the canonical layout\n"


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        pytest.param("a.json", '{\n"a": }', 1, ":2:6: cannot be read as JSON", id="not JSON"),
        pytest.param("a.json", "[1]", 2, "it is not a protocol document", id="another file"),
        pytest.param("gone.json", None, 2, "there is no such file or folder", id="no file"),
    ],
)
def test_a_file_that_cannot_be_formatted_is_named(
    name: str,
    content: str | None,
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert main(["fmt", str(tmp_path / name)]) == code
    output = capsys.readouterr()
    assert f"{name}{'' if said.startswith(':') else ': '}{said}" in output.out + output.err


def test_an_imported_document_has_the_canonical_layout(tmp_path: Path) -> None:
    domain = {"domain": "Lamp", "commands": [{"name": "on", "parameters": []}]}
    source = tmp_path / "lamp.json"
    source.write_text(json.dumps({"domains": [domain]}), encoding="utf-8")
    assert main(["import", "cdp", str(source), "--out", str(tmp_path / "out")]) == 0
    assert main(["fmt", "--check", str(tmp_path / "out" / "1.0")]) == 0
