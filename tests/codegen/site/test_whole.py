"""The site of this project: no problems, small, and complete."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kinwire_codegen.docs.site.check import check_site
from kinwire_codegen.docs.site.pages import SiteSource

pytestmark = pytest.mark.slow


def test_the_check_finds_no_problems(whole_site: Mapping[str, bytes], whole: SiteSource) -> None:
    assert check_site(whole_site, whole.documents) == []


def test_it_has_less_than_ten_megabytes(whole_site: Mapping[str, bytes]) -> None:
    assert sum(map(len, whole_site.values())) < 10_000_000


def test_every_method_tool_and_type_has_a_page(
    whole_site: Mapping[str, bytes], whole: SiteSource
) -> None:
    counted = {"methods": 0, "tools": 0, "types": 0}
    for document in whole.documents:
        counted["methods"] += len(document.content["methods"])
        counted["tools"] += len(document.table("tools"))
        counted["types"] += len(document.definitions)
    pages = [path.split("/") for path in whole_site if path.endswith(".html")]
    assert counted == {
        kind: sum(len(path) == 3 and path[1] == kind for path in pages) for kind in counted
    }


def test_every_public_name_of_the_package_is_on_its_page(
    whole_site: Mapping[str, bytes],
) -> None:
    import kinwire

    page = whole_site["api/kinwire.html"].decode()
    assert [name for name in kinwire.__all__ if f'id="{name}"' not in page] == []
