"""A tiny protocol with every construct once, and exactly what is made of it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.build import build, changes
from kinwire_codegen.load.loading import load_documents
from tests.codegen.constructs import PAIRS, SINGLE, kept_models

GOLDEN = Path(__file__).parent / "golden"
REGENERATE = (
    "kinwire generate --schema tests/codegen/golden/schema"
    " --out tests/codegen/golden/expected --package tiny_bindings --standalone"
)


def test_the_golden_output_is_what_is_made_today() -> None:
    files = build(load_documents(GOLDEN / "schema"), "tiny_bindings")
    found = [change.path for change in changes(files, GOLDEN / "expected")]
    assert found == [], f"look at the difference, then run: {REGENERATE}"


def test_only_making_models_loads_what_writes_them() -> None:
    names = "kinwire_codegen.build, kinwire_codegen.lint, sys"
    script = f"import {names}; print('datamodel_code_generator' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"


def test_the_golden_documents_use_every_word_of_the_document_language() -> None:
    meta = json.loads((GOLDEN.parents[2] / "schema/meta.schema.json").read_text())
    text = "".join(path.read_text() for path in sorted((GOLDEN / "schema").glob("*.json")))
    words = _words_of(meta).union(*map(_words_of, meta["$defs"].values()))
    numeric = {"minimum", "exclusiveMaximum", "maxLength", "uniqueItems"}  # like their neighbours
    assert {word for word in words - numeric if f'"{word}"' not in text} == set()


def _words_of(node: Any) -> set[str]:
    """The members that a part of the meta-schema lets a document have, at any depth."""
    if not isinstance(node, dict):
        return set()
    words = set(node.get("properties", ()))
    for name, inner in node.items():
        for one in inner.values() if name == "properties" else [inner]:
            words |= _words_of(one)
    return words


@pytest.mark.parametrize("protocol", ["tiny", "tiny-base"])
def test_every_example_parses_and_dumps_back_equal(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(GOLDEN / "expected")
    found = load_documents(GOLDEN / "schema")
    models = importlib.import_module(f"tiny_bindings.{found[protocol].module}.models")
    base = importlib.import_module("tiny_bindings.base")
    seen = 0
    for name, node in found[protocol].definitions.items():
        kind = getattr(models, name)
        if not isinstance(kind, type):
            continue  # an alias: it is tried where it is a member
        for example in node.get("examples", ()):
            assert base.to_wire(base.from_wire(kind, example)) == example
            seen += 1
    assert seen > 2


@pytest.mark.slow
def test_the_golden_package_and_all_constructs_please_both_type_checkers(tmp_path: Path) -> None:
    constructs = tmp_path / "constructs.py"
    constructs.write_text(kept_models(SINGLE | PAIRS))
    targets = [str(GOLDEN / "expected" / "tiny_bindings"), str(constructs)]
    mypy = ["mypy", "--strict", f"--cache-dir={os.devnull}", "--config-file="]
    for command in (
        [*mypy, "--explicit-package-bases", *targets],
        ["pyright", "--pythonpath", sys.executable, *targets],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=GOLDEN / "expected",
            env={**os.environ, "MYPYPATH": "."},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
