"""What wheel and sdist hold, and that building them again gives the same bytes."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
import trove_classifiers

import kinwire
from tests.packaging.distribution import ROOT, build

pytestmark = pytest.mark.packaging

HOMES = {
    "kinwire": "runtime",
    "kinwire_cli": "runtime",
    "kinwire_codegen": "codegen",
    "kinwire_protocols": "generated",
}


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def checksums(wheel: Path) -> set[tuple[str, int]]:
    with zipfile.ZipFile(wheel) as archive:
        return {(member.filename, member.CRC) for member in archive.infolist()}


def files_of(package: str) -> set[str]:
    """Return the files of a package in the checkout as a wheel names them."""
    home = ROOT / HOMES[package]
    return {
        str(file.relative_to(home))
        for file in (home / package).rglob("*")
        if file.is_file() and not re.search(r"/(?:__pycache__|\.\w+)/", str(file))
    }


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    packaged = {name for name in names_in(wheel) if ".dist-info/" not in name}
    assert packaged == set().union(*map(files_of, HOMES))


@pytest.mark.parametrize(
    "name",
    [
        "kinwire/py.typed",
        "kinwire_codegen/py.typed",
        "kinwire_codegen/templates/stubs.py.j2",
        "kinwire_protocols/py.typed",
        "kinwire_protocols/schema.json",
    ],
)
def test_the_wheel_holds_its_data_files(wheel: Path, name: str) -> None:
    assert name in names_in(wheel)


def test_the_wheel_carries_the_licence_and_names_it(wheel: Path, metadata: Message) -> None:
    assert metadata["License-Expression"] == "MIT"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names_in(wheel))


def test_the_version_is_that_of_the_code(metadata: Message) -> None:
    assert metadata["Version"] == kinwire.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", kinwire.__version__)


def test_the_classifiers_are_those_that_indexes_know_and_name_no_licence(
    metadata: Message,
) -> None:
    found = metadata.get_all("Classifier", [])
    assert set(found) - trove_classifiers.classifiers == set()
    assert "Typing :: Typed" in found
    assert [name for name in found if name.startswith("License ::")] == []  # SPDX has its place


def test_the_classifiers_begin_with_the_oldest_python_that_is_taken(metadata: Message) -> None:
    named = [name.rpartition(" ")[2] for name in metadata.get_all("Classifier", [])]
    minors = [int(version[2:]) for version in named if re.fullmatch(r"3\.\d+", version)]
    assert metadata["Requires-Python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[0] + len(minors)))


def test_no_address_is_given_that_nobody_has_set_up(metadata: Message) -> None:
    assert metadata.get_all("Project-URL") is None
    assert (metadata["Home-page"], metadata["Author-email"]) == (None, None)


def test_the_description_is_the_readme(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata.get_payload() == readme


def test_the_core_needs_at_most_three_distributions_of_others(metadata: Message) -> None:
    core = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert len(core) <= 3, core


def test_the_extras_are_the_documented_ones(metadata: Message) -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `kinwire\[(\w+)\]` ", page, re.MULTILINE)
    assert {*rows, "dev", "test"} == set(metadata.get_all("Provides-Extra", []))


def test_the_sdist_holds_documents_tests_and_checks(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        inner = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"schema/mcp.json", "tests/test_arrows.py", "noxfile.py", ".ci/run", "CHANGELOG.md"}
    wanted |= {"LICENSE", "RELEASING.md", "SECURITY.md", "PKG-INFO"}
    assert wanted - inner == set()
    assert [name for name in inner if name.endswith(".pyc") or "node_modules" in name] == []


def test_a_second_build_straight_from_the_checkout_gives_the_same_wheel(
    wheel: Path, tmp_path: Path
) -> None:
    again = build(tmp_path, "--wheel")[".whl"]
    assert again.name == wheel.name
    assert checksums(again) ^ checksums(wheel) == set()
    assert again.read_bytes() == wheel.read_bytes()


def test_a_second_build_gives_the_same_sdist(built: dict[str, Path], tmp_path: Path) -> None:
    again = build(tmp_path, "--sdist")[".gz"]
    assert again.name == built[".gz"].name
    assert again.read_bytes() == built[".gz"].read_bytes()
