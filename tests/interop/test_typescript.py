"""The TypeScript that is generated: npm's compiler takes it, and programs on npm's SDK use it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kinwire_codegen.exports.typescript import typescript_files
from kinwire_codegen.load.bounds import BOUNDS
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.loading import load_documents
from tests.codegen.constructs import SINGLE, VALUES, kept_documents
from tests.codegen.hard_typescript import hard_documents
from tests.codegen.test_golden import GOLDEN
from tests.interop import peers
from tests.interop.conftest import required
from tests.test_readme import blocks_of, run, steps_of
from tests.tracked import ROOT

pytestmark = pytest.mark.interop

PROGRAMS = Path(__file__).parent / "typescript"
OPTIONS = {
    "strict": True,
    "module": "nodenext",
    "target": "es2022",
    "exactOptionalPropertyTypes": True,
    "noUncheckedIndexedAccess": True,
    "types": [],
}
# Whether a value is assignable. An object may have any other fields, also if a type has no required
# ones: TypeScript itself calls such a value a likely mistake.
FITS = """
type Fits<V, T> = [V] extends [T] ? true
  : V extends object ? ([V] extends [T & { [key: string]: unknown }] ? true : false) : false;
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder in which npm's packages are found."""
    packages = required(peers.npm_packages)
    (tmp_path / "node_modules").symlink_to(packages)
    return tmp_path


def write_typescript(documents: Documents, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in typescript_files(documents).items():
        (folder / name).write_text(text, encoding="utf-8")


def compile_errors(project: Path, **options: Any) -> str:
    """Return what the compiler reports; the files of the project are those in its folders."""
    settings = {"compilerOptions": OPTIONS | options, "exclude": ["node_modules", "built"]}
    (project / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    compiler = project / "node_modules" / "typescript" / "bin" / "tsc"
    command = [str(peers.node()), str(compiler), "--project", str(project), "--pretty", "false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=project)
    return done.stdout + done.stderr


def test_the_strict_compiler_takes_all_types_and_refuses_mistakes(project: Path) -> None:
    write_typescript(load_documents(None), project / "protocols")
    write_typescript(hard_documents(), project / "hard")
    write_typescript(load_documents(GOLDEN / "schema"), project / "tiny")
    # TypeScript refuses lists of objects that share no field with what is expected, if none of
    # the expected fields are required; in JSON Schema they fit.
    kept = kept_documents({name: node for name, node in SINGLE.items() if name != "a short form"})
    write_typescript(kept, project / "kept")
    (project / "kept" / "values.ts").write_text("\n".join(values_file(kept)), encoding="utf-8")
    text = (PROGRAMS / "type_errors.ts").read_text(encoding="utf-8")
    (project / "type_errors.ts").write_text(text, encoding="utf-8")
    assert compile_errors(project, noEmit=True) == ""


def values_file(documents: Documents) -> Iterator[str]:
    """Yield a program that compiles if each type takes the values that fit its schema.

    Bounds are left out on both sides: a type cannot have them.
    """
    yield 'import type * as toy from "./toy.js";'
    yield FITS
    definitions = {name: unbounded(node) for name, node in documents["toy"].definitions.items()}
    for name in (name for name in definitions if name.startswith("D0")):  # not those in fields
        judge = Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{name}"})
        for index, value in enumerate(VALUES):
            expected = json.dumps(judge.is_valid(value))
            fits = f"Fits<{json.dumps(value)}, toy.{name}>"
            yield f"const {name}_{index}: {expected} = null! as {fits};"


def unbounded(node: Any) -> Any:
    """Return a type without what is not part of a type in TypeScript."""
    if isinstance(node, list):
        return [unbounded(one) for one in node]
    if not isinstance(node, dict):
        return "number" if node == "integer" else node
    return {key: unbounded(value) for key, value in node.items() if key not in BOUNDS}


def test_a_host_on_the_sdk_is_typed_as_the_guide_shows(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = blocks_of("docs/other-languages.md")
    for block in blocks:
        if block.kind != "console":
            assert block.name, block.text
            (project / block.name).write_text(block.text, encoding="utf-8")
    (project / "generated").symlink_to(ROOT / "generated")
    places = [str(peers.node().parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(places))
    for block in blocks:
        for command, output in steps_of(block.text) if block.kind == "console" else ():
            assert run(command, project) == output, command
