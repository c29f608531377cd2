"""What `import kinwire` gives, and what it does not load."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import kinwire
import kinwire_cli
from tests.each import each

ALIASES = {"Next"}  # of types, which have no name of their own


@each("name", kinwire.__all__)
def test_every_public_name_is_there_and_knows_its_home(name: str) -> None:
    value = getattr(kinwire, name)
    assert value.__name__ == name or name in ALIASES
    assert name in dir(kinwire)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kinwire' has no attribute 'Sever'"):
        _ = kinwire.Sever  # type: ignore[attr-defined]


def test_the_import_loads_nothing_heavy() -> None:
    program = (
        "import sys; before = set(sys.modules); import kinwire\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('_')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": next(iter(kinwire.__path__)) + "/.."},
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "kinwire" in loaded
    assert loaded <= {"kinwire", *sys.stdlib_module_names}
    assert not loaded & {"asyncio", "json", "logging", "subprocess", "dataclasses"}


MODULES = [
    module.name
    for package in (kinwire, kinwire_cli)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.name != "kinwire.__main__"
]


@each("name", MODULES)
def test_every_module_says_what_it_is_and_what_it_offers(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    offered: tuple[str, ...] = module.__all__
    assert list(offered) == [public for public in offered if hasattr(module, public)]
