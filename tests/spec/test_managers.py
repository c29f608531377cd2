"""What the table of managers names is there."""

from __future__ import annotations

import importlib
from operator import attrgetter

import pytest

from tests.spec.ledger import ledgers
from tests.spec.managers import MANAGERS
from tests.spec.managers.manager import Manager


@pytest.mark.parametrize("manager", MANAGERS.values(), ids=MANAGERS)
def test_a_manager_has_its_attributes_and_rows(manager: Manager) -> None:
    for attribute in manager.attributes:
        module, _, path = attribute.partition(":")
        assert callable(attrgetter(path)(importlib.import_module(module)))
    assert [row for row in manager.rows if row not in ledgers()] == []
