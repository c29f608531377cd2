"""A plugin of pytest: the tests run while a manager of the runtime is switched off."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

from tests.spec.managers import MANAGERS
from tests.spec.mutation import OFF


def switch_off(attribute: str) -> None:
    """Let what `attribute` names, as "module:Class.method", refuse whatever it is asked.

    Raises:
        AttributeError: There is no such attribute; the table of managers is out of date.
    """
    module, _, path = attribute.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    getattr(owner, name)

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError(f"{attribute} is switched off")

    setattr(owner, name, refuse)


def pytest_configure() -> None:
    for attribute in MANAGERS[os.environ[OFF]].attributes:
        switch_off(attribute)
