"""TypeScript of documents, as far as it can be judged without a compiler.

`tests/interop/test_typescript.py` asks the compiler.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kinwire_codegen.build import build_typescript, changes
from kinwire_codegen.exports.typescript import typescript_files
from kinwire_codegen.load.loading import load_documents
from tests.codegen.hard_typescript import hard_documents
from tests.codegen.test_commands import kinwire
from tests.each import each

GOLDEN = Path(__file__).parent / "golden"
REGENERATE = (
    "kinwire generate --language typescript --schema tests/codegen/golden/schema"
    " --out tests/codegen/golden/typescript"
)


def test_the_golden_typescript_is_what_is_made_today() -> None:
    files = build_typescript(load_documents(GOLDEN / "schema"))
    found = [change.path for change in changes(files, GOLDEN / "typescript")]
    assert found == [], f"look at the difference, then run: {REGENERATE}"


@pytest.fixture(scope="module")
def hard() -> str:
    files = typescript_files(hard_documents())
    return "".join(files[f"new.{end}"] for end in ("d.ts", "methods.d.ts", "methods.js"))


@each(
    "line",
    [
        r"/** Ends *\/ here, `@type` and \@param too. A \ and a second line. */",
        r"x-acme: {" + r'"a": "*\/"}',
        r'  "quo\"te"?: string;',
        r'  "line\nbreak"?: string;',
        '  "2fa"?: string;',
        "  class?: string;",
        'export type Words = "a" | "b" | (string & {});',
        "export type Tree = { [key: string]: Tree | null };",
        "} & ({ data: string } | { uri: string });",
        "  /** @deprecated Too loud. Use LOW. */\n  | 2;",
        "    params: [from: number, to: number, type?: newTypes.Words];",
        "    params: [(number | null), number?];",
        'import type * as newTypes from "./new.js";',
        '    "aliasOf": "range/get"',
        '    "LOW": 1,',
    ],
)
def test_hard_names_texts_and_params_are_escaped(line: str, hard: str) -> None:
    assert line in hard


def test_considered_methods_are_left_out(hard: str) -> None:
    assert "$/later" not in hard


def typescript(folder: Path, *words: str) -> tuple[int, str]:
    done = kinwire(
        *("generate", "--language", "typescript", "--schema", "schema", "--out", "out", *words),
        cwd=folder,
    )
    return done.returncode, done.stdout + done.stderr


def test_typescript_is_written_checked_and_cleaned_up(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "schema", tmp_path / "schema")
    out = tmp_path / "out"
    assert typescript(tmp_path)[0] == 0
    assert (out / "tiny.d.ts").read_text() == (GOLDEN / "typescript/tiny.d.ts").read_text()
    assert typescript(tmp_path, "--check") == (0, "up to date\n")

    # Another generated file that nobody needs goes; those of other kinds and of users stay.
    old = (out / "tiny.d.ts").read_text()
    for name in ("gone.d.ts", "data.json"):
        (out / name).write_text(old)
    (out / "mine.ts").write_text("export {};\n")
    (out / "tiny.d.ts").write_text(f"{old}// more\n")
    code, said = typescript(tmp_path, "--check")
    assert code == 1
    assert said.splitlines()[1:3] == ["  remove  gone.d.ts", "  change  tiny.d.ts"]
    assert typescript(tmp_path)[0] == 0
    assert not (out / "gone.d.ts").exists()
    assert {"mine.ts", "data.json"} <= {path.name for path in out.iterdir()}

    (out / "tiny.d.ts").write_text("export type Mine = 1;\n")
    code, said = typescript(tmp_path)
    assert code == 1
    assert "is not a generated file" in said
    assert (out / "tiny.d.ts").read_text() == "export type Mine = 1;\n"


@each("words", [("--package", "x"), ("--standalone",), ("--out", "schema")])
def test_options_that_do_not_fit_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "schema", ignore_errors=True)
    shutil.copytree(GOLDEN / "schema", tmp_path / "schema")
    assert typescript(tmp_path, *words)[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["schema"]


def test_documents_with_findings_make_no_typescript(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "schema", tmp_path / "schema")
    path = tmp_path / "schema" / "tiny.json"
    content = json.loads(path.read_text())
    content["methods"]["books/find"]["params"] = "#/$defs/Nothing"
    path.write_text(json.dumps(content))
    code, said = typescript(tmp_path)
    assert code == 1
    assert "Nothing" in said
    assert not (tmp_path / "out").exists()
