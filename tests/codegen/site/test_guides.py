"""Guides as pages, in the groups in which the README lists them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinwire_codegen.docs.reference.blocks import Prose
from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.check import check_site
from kinwire_codegen.docs.site.guides import Guides, Opening, opening_of
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.docs.site.prose import rendered
from kinwire_codegen.load.document import Documents
from tests.codegen.site.conftest import words_of

README = """\
# Tea

Tea for programs.

It is hot.

## Install

```sh
pip install tea
```

{}
## The rest

Nobody reads this.
"""
HEADINGS = """\
## Guides

### Use tea

- [Brewing](docs/brewing.md): how to brew it
- [Pouring](docs/pouring.md)

### Change tea

| guide | what it shows |
|---|---|
| [Growing](docs/growing.md) | from the seed |
| [Roasting](docs/roasting.md) | in a pan |

"""
LABELS = HEADINGS.replace("### Use tea", "**Use tea**").replace("### Change tea", "Change tea:")
CELLS = """\
## A table each

Some words about how these guides came to be, and why there are several tables of them here.

| Use tea | |
|---|---|
| [Brewing](docs/brewing.md) | how to brew it |
| [Pouring](docs/pouring.md) | |

| Change tea | |
|---|---|
| [Growing](docs/growing.md) | from the seed |
| [Roasting](docs/roasting.md) | in a pan |

"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("Brewing", "Pouring", "Growing", "Roasting"):
        text = f"# {name}\n\nAbout {name.lower()}. And more.\n"
        (folder / f"{name.lower()}.md").write_text(text, encoding="utf-8")
    return folder


def opening(docs: Path, groups: str) -> Opening:
    (docs.parent / "README.md").write_text(README.format(groups), encoding="utf-8")
    return opening_of(list(Guides(docs).pages()))


@pytest.mark.parametrize("groups", [HEADINGS, LABELS, CELLS])
def test_guides_are_grouped_as_the_readme_groups_them(docs: Path, groups: str) -> None:
    found = opening(docs, groups).groups
    assert [(one.label, [entry.name for entry in one.entries]) for one in found] == [
        ("Use tea", ["Brewing", "Pouring"]),
        ("Change tea", ["Growing", "Roasting"]),
        ("About the project", ["Overview"]),
    ]
    assert [entry.summary for entry in found[0].entries] == ["how to brew it", "About pouring."]


@pytest.mark.parametrize("groups", [HEADINGS, LABELS, CELLS])
def test_the_home_page_begins_as_the_readme_does_up_to_its_guides(docs: Path, groups: str) -> None:
    found = opening(docs, groups)
    assert found.lead == "Tea for programs."
    assert found.text == "It is hot.\n\n## Install\n\n```sh\npip install tea\n```"


def test_a_list_that_the_first_paragraph_leads_to_belongs_to_it(docs: Path) -> None:
    text = "# Tea\n\nTea is hot. Use it to\n\n- wake up,\n- talk.\n\nIt has leaves.\n"
    (docs.parent / "README.md").write_text(text, encoding="utf-8")
    found = opening_of(list(Guides(docs).pages()))
    assert found.lead == "Tea is hot. Use it to\n\n- wake up,\n- talk."
    assert found.text == "It has leaves."


def test_guides_that_the_readme_does_not_list_are_in_a_group_of_their_own(docs: Path) -> None:
    (docs / "sipping.md").write_text("# Sipping\n\nSlowly.\n", encoding="utf-8")
    found = {
        one.label: [entry.name for entry in one.entries] for one in opening(docs, LABELS).groups
    }
    assert found["More guides"] == ["Sipping"]


def test_a_link_to_a_generated_file_leads_to_its_copy_in_the_site(docs: Path) -> None:
    text = "# Sipping\n\n[Schema](../generated/json-schema/tea/cup.json), [no](../generated/x).\n"
    (docs / "sipping.md").write_text(text, encoding="utf-8")
    (page,) = (one for one in Guides(docs).pages() if one.path == "guides/sipping")
    (prose,) = page.blocks
    assert isinstance(prose, Prose)
    assert "(../../exports/json-schema/tea/cup.json)" in prose.text
    assert "(../../missing/generated/x)" in prose.text


def test_a_section_of_a_guide_has_the_text_below_its_heading() -> None:
    found = rendered("Before.\n\n## Leaves\n\nAll `green`.\n\n```sh\nboil\n```\n\n## Water\n\nHot.")
    assert found.body == "Before."
    assert [(one.text, one.body) for one in found.sections] == [
        ("Leaves", "All `green`.\nboil\n"),
        ("Water", "Hot."),
    ]


def test_the_search_knows_the_words_of_a_guide(docs: Path, tiny: Documents) -> None:
    text = "# Sipping\n\nSlowly.\n\n## With milk\n\nPour the *oatmilk* first. Then pour tea.\n"
    (docs / "sipping.md").write_text(text, encoding="utf-8")
    files = site_files(SiteSource(documents=tiny, guides=docs))
    script = files["assets/index.js"].decode()
    index = json.loads(script.removeprefix("window.KINWIRE_INDEX=").rstrip(";\n"))
    (place,) = (place for place in index["places"] if place[2] == "With milk")
    assert place[1:] == ["guide", "With milk", "with-milk", "Pour the oatmilk first."]
    number, found = len(index["pages"]) + index["places"].index(place), words_of(files)
    assert found["oatmilk"] == [[number]]
    assert number in found["pour"][1]
    assert "then" not in found  # too common
    assert all(number not in numbers for numbers in found.get("milk", []))  # its name


def test_guides_without_a_readme_are_one_group(docs: Path) -> None:
    found = opening_of(list(Guides(docs).pages()))
    assert (found.lead, found.text) == ("", "")
    (group,) = found.groups
    assert (group.label, len(group.entries)) == ("Guides", 4)


def test_a_guide_named_like_the_list_of_guides_keeps_its_page(docs: Path, tiny: Documents) -> None:
    for name in ("README", "index"):
        (docs / f"{name}.md").write_text(f"# Its {name}\n\nText.\n", encoding="utf-8")
    files = site_files(SiteSource(documents=tiny, guides=docs))
    assert check_site(files, tiny) == []
    assert b"<h1>Guides</h1>" in files["guides/index.html"]
    assert b"<h1>Its README</h1>" in files["guides/readme.html"]
    assert b"<h1>Its index</h1>" in files["guides/introduction.html"]


def test_the_home_page_has_the_quick_start_and_the_groups_and_no_table(
    docs: Path, tiny: Documents
) -> None:
    opening(docs, LABELS)
    files = site_files(SiteSource(documents=tiny, guides=docs, title="Tea"))
    page = files["index.html"].decode()
    assert "pip install tea" in page
    assert '<h2 id="home.use-tea">Use tea' in page
    assert '<a href="guides/brewing.html">Brewing</a><span>how to brew it</span>' in page
    assert "<table" not in page
    assert "Nobody reads this" not in page
    assert check_site(files, tiny) == []
