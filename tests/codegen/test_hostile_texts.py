"""Texts of documents are anybody's: they never become code, markup, or commands of a terminal."""

from __future__ import annotations

import ast
import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from kinwire_codegen.build import build, build_typescript
from kinwire_codegen.lint import lint
from kinwire_codegen.load.findings import DocumentError
from tests.codegen.compare.documents import edited, toy
from tests.codegen.compare.test_commands import stricter, write
from tests.codegen.documents import documents, protocol
from tests.codegen.test_commands import kinwire
from tests.each import each

HOSTILE = (
    'x"""\nevil()\n"""\\',
    "x'\"`\\*/</script><evil>\n# x\u2028evil()//",
    "`</code><evil>` x\revil()\x0cevil()\x1b[31m\x85evil()\u2029evil() \\",
)
_COMMAND = "x\n::error::evil\x1b[31m"
_ROW: dict[str, Any] = {"kind": "request", "section": "1", "summary": "Ask."}
_TS = re.compile(r"//[^\n\r\u2028\u2029]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n\r])*\"", re.DOTALL)


def hostile_document(text: str) -> dict[str, Any]:
    """Return a document that has `text` wherever a document may have any text."""
    thing = {
        "description": text,
        "type": "object",
        "properties": {text: {"type": "string", "description": text, "default": text, "x-a": text}},
        "examples": [{text: text}],
        "deprecated": {"since": text, "reason": text, "replacement": text},
        "since": text,
        "x-decision": text,
    }
    said = {"section": text, "summary": text}
    row = _ROW | {"params": "#/$defs/Thing", "result": "#/$defs/Thing", "description": text}
    row |= said
    content = protocol(
        types={"Thing": thing, "Word": {"description": text, "enum": [text]}},
        methods={
            "ask": row | {"from": "client", "aliases": [text, "__proto__"]},
            "tools/call": row | {"from": "both"},
        },
        errors={"Gone": {"code": 1, "message": text, "description": text}},
        tools={
            "dust": {key: row[key] for key in ("section", "summary", "params", "result")}
            | {"aliases": [text]}
        },
        records={
            text: {"section": text, "summary": text, "type": "#/$defs/Word", "places": [text]}
        },
        limits={"top": said | {"value": text, "unit": text}},
    )
    names = {key: text for key in ("title", "version", "description")}
    return (
        content | names | {"roles": {"client": text, "server": text}, "x-a": text, f"x-{text}": 1}
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_document_becomes_code(text: str, tmp_path: Path, fast: None) -> None:
    found = documents(tmp_path, hostile_document(text))
    for path, source in build(found, "toy_bindings").items():
        if path.endswith(".py"):
            names = {one.id for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Name)}
            assert "evil" not in names, path
        elif path.endswith(".md"):
            tags = _Tags()
            tags.feed(MarkdownIt("commonmark").enable("table").render(source))
            assert "evil" not in tags.found, path
    for path, source in build_typescript(found).items():
        assert "evil" not in _TS.sub("", source), path
        if path == "toy.methods.js":
            assert '["__proto__"]: {' in source


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the layout of ruff: code that it would not take is not Python either."""
    monkeypatch.setattr("kinwire_codegen.build.formatted", lambda files, _: files)


def test_a_name_does_not_end_with_a_line_end(tmp_path: Path) -> None:
    whole = json.loads((Path(__file__).parent / "golden/schema/tiny.json").read_text())
    for table in ("methods", "tools", "tables", "machines", "limits"):
        content = protocol() | {table: {f"{name}\n": one for name, one in whole[table].items()}}
        with pytest.raises(DocumentError) as caught:
            documents(tmp_path, content)
        assert all("does not match" in one.what for one in caught.value.findings), table


@each("name", ["a\nb", "a%20b", "a#b", "a?b", "\t", "ä\u2028", "~1/~0"])
def test_a_default_may_stand_on_a_field_of_any_name(name: str, tmp_path: Path) -> None:
    node = {"type": "integer", "description": "A.", "default": "no"}
    kind = {"description": "A.", "type": "object", "properties": {name: node}}
    (finding,) = lint(documents(tmp_path, protocol(types={"Thing": kind})))
    assert "it does not fit the type" in finding.what


def test_two_tools_do_not_share_an_alias(tmp_path: Path) -> None:
    content = hostile_document("x")
    content["tools"]["wipe"] = copy.deepcopy(content["tools"]["dust"])
    found = [str(one) for one in lint(documents(tmp_path, content))]
    assert found == [
        "toy.json#/tools/wipe/aliases: the alias 'x' is also one of 'dust'. Remove one of them."
    ]


META_SCHEMAS = [
    ("[1]", "expected an object"),
    ("null", "expected an object"),
    ('{"$defs": []}', "/$defs: it is not a JSON Schema"),
    ('{"$defs": {"included": true}}', "/$defs/included: it is not a JSON Schema"),
    ('{"$ref": 5}', "/$ref: it is not a JSON Schema"),
    ('{"properties": {"title": {"pattern": "("}}}', "'(' is not a 'regex'"),
    ('{"$ref": "#"}', "a reference leads back to itself"),
    ('{"$ref": "https://nowhere.invalid/x"}', "a reference leads nowhere: https://nowhere"),
    ("\ufeff{}", "it begins with a byte order mark"),
    (f'{{"a": {"9" * 5000}}}', "a number has 5000 digits"),
]


@each(("text", "says"), META_SCHEMAS)
def test_a_meta_schema_that_is_not_one_is_a_finding(text: str, says: str, tmp_path: Path) -> None:
    write(tmp_path / "toy.json", protocol())
    (tmp_path / "meta.schema.json").write_text(text, encoding="utf-8")
    done = kinwire("lint", "--schema", ".", cwd=tmp_path)
    assert (done.returncode, says in done.stdout, done.stderr) == (1, True, "1 finding\n")
    formatted = kinwire("fmt", ".", cwd=tmp_path)
    assert formatted.returncode == (0 if "a reference" in says else 1)
    assert "Error" not in formatted.stderr


@each("form", ["text", "github"])
def test_no_text_of_a_document_begins_a_line_of_a_report(form: str, tmp_path: Path) -> None:
    said = {"version": _COMMAND, "roles": {"client": _COMMAND, "server": _COMMAND}}
    write(tmp_path / "old" / "toy.json", toy() | said)
    write(tmp_path / "schema" / "toy.json", edited(toy(), stricter) | said)
    done = kinwire("breaking", "--against", "old", "schema", "--format", form, cwd=tmp_path)
    lines = done.stdout.split("\n")
    assert not [one for one in lines if one.startswith("::error::evil")]
    assert "\x1b" not in done.stdout
    assert any("\\n::error::evil" in one for one in lines)
