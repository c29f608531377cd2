"""Two sites, each built once: of the tiny protocol with a guide, and of everything there is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import pytest

from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.docs.site.search import PART
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.loading import load_documents

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "codegen" / "golden" / "schema"

GUIDE = """\
# Lending books

A guide with `code`, a [link](second.md#two-words) and a [file](notes.txt).

## Two words

```python lend.py
print("<lent>")
```

## Two words

| a | b |
| --- | --- |
| 1 | <b> |
"""
SECOND = "# Second\n\nSee [the first](lending.md).\n\n## Two words\n\nText.\n"


@pytest.fixture(scope="session")
def tiny() -> Documents:
    return load_documents(GOLDEN)


@pytest.fixture(scope="session")
def tiny_site(tiny: Documents, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """The site of the tiny protocol, with two guides and a place of publication."""
    guides = tmp_path_factory.mktemp("tiny") / "docs"
    guides.mkdir()
    (guides / "lending.md").write_text(GUIDE, encoding="utf-8")
    (guides / "second.md").write_text(SECOND, encoding="utf-8")
    (guides / "notes.txt").write_text("notes", encoding="utf-8")
    versions = [("2", "."), ("1", "../1/")]
    return site_files(
        SiteSource(
            documents=tiny,
            guides=guides,
            title="Tiny",
            base_url="https://tiny.example/x/y/",
            version="2",
            versions=versions,
        )
    )


@pytest.fixture(scope="session")
def whole() -> SiteSource:
    """What the site of this project is made from."""
    documents = load_documents(ROOT / "schema")
    return SiteSource(documents=documents, guides=ROOT / "docs", package="kinwire", rules=True)


@pytest.fixture(scope="session")
def whole_site(whole: SiteSource) -> Mapping[str, bytes]:
    return site_files(whole)


def words_of(files: Mapping[str, bytes]) -> dict[str, list[list[int]]]:
    """Return the words that the search knows, each with its places by how often they have it."""
    found: dict[str, list[list[int]]] = {}
    for path in (path for path in files if path.startswith("assets/words/")):
        call = files[path].decode().removeprefix("kinwireSearch.add(").rstrip(");\n")
        beginning, part = json.loads(f"[{call}]")
        assert path == f"assets/words/w-{beginning}.js"
        assert len(part) == 1 or len(call) < PART + 20
        for word, *steps in part:
            assert word.startswith(beginning)
            assert word not in found
            found[word] = [list(accumulate(one)) for one in steps]
    return found
