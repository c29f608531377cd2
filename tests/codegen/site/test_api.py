"""The Python interface as pages, read from source."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from kinwire_codegen.docs.reference.markdown import as_markdown
from kinwire_codegen.docs.site.api import api_pages
from kinwire_codegen.docs.site.pages import PackageError

INIT = '''"""A shop for tea."""

__all__ = ("Shop", "TeaError", "brew")

from shop_of_tea.errors import TeaError
from shop_of_tea.inner import Shop, brew
'''
ERRORS = '''class TeaError(Exception):
    """Too cold."""
'''
INNER = '''class Shop:
    """Sells tea."""

    open: bool = True
    """Whether it is."""

    def __init__(self, name: str, *, size: int = 3) -> None: ...

    async def sell(self, leaf: str, /) -> float:
        """Return the price.

        Raises:
            TeaError: it is cold.
        """

    @property
    def stock(self) -> int:
        """How much there is."""

    def _hidden(self) -> None:
        """Private."""


def brew(leaf, *, minutes=3): ...
'''


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    package = tmp_path / "shop_of_tea"
    package.mkdir()
    for name, text in (("__init__", INIT), ("errors", ERRORS), ("inner", INNER)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = api_pages("shop_of_tea", ["from shop_of_tea.inner import Shop"])
    return {page.path: as_markdown(page) for page in found}


@pytest.mark.parametrize(
    "line",
    [
        '## <a id="Shop"></a>`Shop`',
        "class Shop",
        "Shop(name: str, *, size: int = 3)",
        "Sells tea.",
        '| <a id="Shop.open"></a>`open` | `bool` | `True` | Whether it is. |',
        '### <a id="Shop.sell"></a>`Shop.sell`',
        "async def sell(leaf: str) -> float",
        "**Raises**",
        "- `TeaError`: it is cold.",
        "stock: int",
        "class TeaError(Exception)",
        "def brew(leaf, *, minutes=3)",
    ],
)
def test_a_public_name_is_shown_with_its_signature_and_words(
    pages: dict[str, str], line: str
) -> None:
    assert line in pages["api/shop_of_tea"].splitlines()


def test_what_is_private_is_not_shown(pages: dict[str, str]) -> None:
    assert "_hidden" not in "".join(pages.values())


def test_a_module_without_public_names_has_no_page(pages: dict[str, str]) -> None:
    assert sorted(pages) == ["api/README", "api/shop_of_tea"]


def test_nothing_is_imported(pages: dict[str, str]) -> None:
    assert pages
    assert "shop_of_tea" not in sys.modules


def test_a_package_that_is_not_there_is_an_error() -> None:
    with pytest.raises(PackageError, match="There is no package 'no_such_package_here'") as raised:
        list(api_pages("no_such_package_here", []))
    assert "PYTHONPATH" in raised.value.hint


def test_a_path_is_not_a_package() -> None:
    with pytest.raises(PackageError) as raised:
        list(api_pages("./shop-of-tea", []))
    assert raised.value.hint == "Write the name as in an import."


def test_a_package_without_public_names_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare_shop").mkdir()
    (tmp_path / "bare_shop" / "__init__.py").write_text("sold = 3\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PackageError, match="has no public names"):
        list(api_pages("bare_shop", []))


ORDER = '''"""Begin with `Shop` or `brew`."""

__all__ = ("Cup", "Pot", "Shop", "TeaError", "Tray", "brew")


class TeaError(Exception): ...
class Cup: ...
class Pot: ...
class Shop: ...
class Tray: ...
def brew(): ...
'''
IMPORTS = [
    "from ordered_shop import Tray, TeaError\n",
    "from ordered_shop import (\n    Pot,\n    Tray,\n)\n",
]


def test_names_are_ordered_by_importance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The docstring comes first, then what guides import most; errors are last."""
    (tmp_path / "ordered_shop").mkdir()
    (tmp_path / "ordered_shop" / "__init__.py").write_text(ORDER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    page = as_markdown(list(api_pages("ordered_shop", IMPORTS))[-1])
    found = re.findall(r"^## .*`(\w+)`$", page, re.MULTILINE)
    assert found == ["Shop", "brew", "Tray", "Pot", "Cup", "TeaError"]


def test_our_own_page_begins_with_server_host_and_connect() -> None:
    page = as_markdown(list(api_pages("kinwire", []))[-1])
    assert re.findall(r"^## .*`(\w+)`$", page, re.MULTILINE)[:3] == ["Server", "Host", "connect"]


def test_a_generated_package_has_a_page_for_each_protocol() -> None:
    pages = {page.path: as_markdown(page) for page in api_pages("kinwire_protocols", [])}
    names = [f"api/kinwire_protocols.{name}" for name in ("jsonrpc", "mcp", "mcpl", "peer")]
    assert pages.keys() >= {"api/README", *names}
    lines = pages["api/kinwire_protocols.mcp"].splitlines()
    begin = '| <a id="Tool.{0}"></a>`{0}` | '
    shown = next(line for line in lines if line.startswith(begin.format("description")))
    assert shown.startswith(begin.format("description") + "`str \\| None` | `None` | ")
    schema = next(line for line in lines if line.startswith(begin.format("input_schema")))
    assert schema.startswith(begin.format("input_schema") + "`ToolInputSchema` |")
