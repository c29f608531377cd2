"""The Python interface as pages, read from source."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kinwire_codegen.reference.markdown import as_markdown
from kinwire_codegen.site.api import api_pages

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
            TeaError: the tea is gone.
        """

    @property
    def stock(self) -> int:
        """How much there is."""

    def _hidden(self) -> None:
        """Nobody's business."""


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
        '| <a id="Shop.open"></a>`open` | `bool` | Whether it is. |',
        '### <a id="Shop.sell"></a>`Shop.sell`',
        "async def sell(leaf: str) -> float",
        "**Raises**",
        "- `TeaError`: the tea is gone.",
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


def test_a_package_that_is_not_there_has_no_pages() -> None:
    assert list(api_pages("no_such_package_here", [])) == []
