"""OpenRPC descriptions of other projects become documents and bindings with all their methods.

npm has the examples of OpenRPC. The others are in repositories only: put
`ethereum-json-rpc-specification`, `execution-apis` and `starknet-specs` into a folder, and name it
in KINWIRE_IMPORT_SOURCES.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from kinwire_codegen.imports.folders import read_folder
from tests.interop import peers
from tests.interop.conftest import required

pytestmark = pytest.mark.interop


def examples() -> Iterable[Path]:
    return (required(peers.npm_packages) / "@open-rpc/examples/build").rglob("*-openrpc.json")


def fetched(pattern: str) -> Callable[[], Iterable[Path]]:
    def files() -> Iterable[Path]:
        folder = os.environ.get("KINWIRE_IMPORT_SOURCES")
        if folder is None:
            pytest.skip("KINWIRE_IMPORT_SOURCES names no folder")
        return Path(folder).glob(pattern)

    return files


SOURCES = {
    "examples": (examples, 20),
    "ethereum classic": (fetched("ethereum-json-rpc-specification/openrpc.json"), 47),
    "ethereum": (fetched("execution-apis/src"), 78),
    "starknet": (fetched("starknet-specs/*api/*.json"), 59),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_method_is_imported_and_generated(name: str, tmp_path: Path) -> None:
    find, least = SOURCES[name]
    total = 0
    paths = [path for path in sorted(find()) if methods_in(path)]
    for index, path in enumerate(paths):
        expected = methods_in(path)
        folder = tmp_path / str(index)
        options = ("--protocol", f"p{index}", "--as-version", "1", "--out", str(folder))
        root = ("--root", str(path.parents[1]))
        assert main(["import", "openrpc", str(path), *options, *root, "--partial"]) == 0
        document = json.loads((folder / "1" / f"p{index}.json").read_text())
        shutil.copytree(folder / "1", tmp_path / "all", dirs_exist_ok=True)
        assert len(document["methods"]) == expected, path
        total += expected
    assert total >= least
    schema = ("--schema", str(tmp_path / "all"), "--out", str(tmp_path))
    assert main(["generate", *schema, "--package", "made"]) == 0
    modules = ", ".join(f"made.p{index}.models" for index in range(len(paths)))
    command = [sys.executable, "-c", f"import {modules}"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)


def methods_in(path: Path) -> int:
    content: Any = read_folder(path) if path.is_dir() else json.loads(path.read_text())
    return len(content.get("methods", ()))
