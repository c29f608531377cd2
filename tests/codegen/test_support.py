"""The support modules: real Python in `support/`, copied into every package that stands alone."""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kinwire_codegen import support
from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.support import SHARED
from kinwire_codegen.support.jsonrpc import errors as stand_in
from kinwire_protocols.jsonrpc import errors as generated
from tests.codegen.test_commands import kinwire
from tests.each import each

ROOT = Path(__file__).parents[2]
SUPPORT = Path(str(support.__file__)).parent
GOLDEN = Path(__file__).parent / "golden"
EXPECTED = GOLDEN / "expected"
PACKAGES = [ROOT / "generated" / "kinwire_protocols", EXPECTED / "tiny_bindings"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
@pytest.mark.parametrize("name", SHARED)
def test_a_copy_is_its_source_but_for_marker_and_imports(package: Path, name: str) -> None:
    copy = (package / f"{name}.py").read_text(encoding="utf-8")
    marker = f" Generated {OWNED}."
    assert copy.partition("\n")[0].count(marker) == 1
    source = copy.replace(marker, "", 1).replace(f"from {package.name}.", "from .")
    assert source == (SUPPORT / f"{name}.py").read_text(encoding="utf-8")


def test_every_support_module_is_copied() -> None:
    assert sorted(path.stem for path in SUPPORT.glob("*.py")) == sorted({*SHARED, "__init__"})


@each("name", SHARED)
def test_a_support_module_imports_what_every_package_has(name: str) -> None:
    allowed = {"pydantic", "pydantic_core", *sys.stdlib_module_names}
    for node in ast.walk(ast.parse((SUPPORT / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name.partition(".")[0] for alias in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom) and node.level:
            assert (node.level, node.module) in {(1, one) for one in (*SHARED, "jsonrpc.errors")}
        elif isinstance(node, ast.ImportFrom):
            assert str(node.module).partition(".")[0] in allowed


@pytest.mark.parametrize("name", stand_in.__all__)
def test_the_stand_in_errors_are_those_that_are_generated(name: str) -> None:
    ours, theirs = getattr(stand_in, name), getattr(generated, name)
    for attribute in ("protocol", "name", "default_code", "default_message"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)


@each("names", [SHARED[::2], SHARED[1::2]])
def test_check_finds_the_edited_copies(names: Sequence[str], tmp_path: Path) -> None:
    shutil.copytree(EXPECTED, tmp_path, dirs_exist_ok=True)
    for name in names:
        with (tmp_path / "tiny_bindings" / f"{name}.py").open("a", encoding="utf-8") as file:
            file.write("EDITED = True\n")
    generate = ("generate", "--schema", GOLDEN / "schema", "--package", "tiny_bindings")
    done = kinwire(*generate, "--standalone", "--out", ".", "--check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    summary = f"{len(names)} files out of date. Run the same command without --check.\n"
    files = [f"tiny_bindings/{name}.py" for name in sorted(names)]
    listed = "".join(f"  change  {file}\n" for file in files)
    assert done.stdout.startswith(f"{summary}{listed}\n")
    assert [line for line in done.stdout.splitlines() if line.startswith("--- ")] == [
        f"--- a/{file}" for file in files
    ]
    assert done.stdout.count("-EDITED = True\n") == len(names)
