"""Names of packages load when they are first used, and only those that there are."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kinwire
import kinwire.mcpl
import kinwire.mgp
import kinwire.storage
from kinwire.support.lazy_names import lazy_names

LOADED = """
import sys, kinwire
before = set(sys.modules)
from kinwire.mgp import Retries
assert "kinwire.mgp.kernel.kernel" not in sys.modules
assert "Retries" in vars(sys.modules["kinwire.mgp"])
assert not [name for name in before if name.startswith(("kinwire.m", "kinwire.rpc", "pydantic"))]
"""


def test_every_public_name_of_a_package_loads_and_no_other() -> None:
    for package in (kinwire, kinwire.mcpl, kinwire.mgp, kinwire.storage):
        for name in package.__all__:
            assert getattr(package, name) is vars(package)[name]
        with pytest.raises(AttributeError) as raised:
            _ = package.absent
        assert str(raised.value) == f"module {package.__name__!r} has no attribute 'absent'"


def test_a_name_loads_nothing_but_its_own_module() -> None:
    subprocess.run([sys.executable, "-c", LOADED], check=True)


def test_a_loaded_name_is_kept() -> None:
    load = lazy_names("kinwire.support", {"short_digest": "json_values"})
    import kinwire.support as package

    try:
        assert load("short_digest") is vars(package)["short_digest"]
    finally:
        del package.short_digest  # type: ignore[attr-defined]
