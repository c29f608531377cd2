"""A missing extra is installed from where the rest came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.extras import install_command, missing_extra

METADATA = "Metadata-Version: 2.1\nName: kinwire\nVersion: 1.0\n"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'kinwire[cli]'"),
        (
            {"url": "file:///src/my%20work", "dir_info": {"editable": True}},
            "pip install -e '/src/my work[cli]'",
        ),
        ({"url": "file:///src/kinwire", "dir_info": {}}, "pip install '/src/kinwire[cli]'"),
        ({"url": "https://x.test/k.whl", "archive_info": {}}, "pip install 'kinwire[cli]'"),
    ],
)
def test_an_extra_comes_from_the_folder_that_is_installed(
    origin: dict[str, Any] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "kinwire-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("cli") == command


def test_a_module_named_unlike_its_distribution_leads_to_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "kinwire-1.0.dist-info"
    info.mkdir()
    lines = "Provides-Extra: docs\nRequires-Dist: markdown-it-py>=4.0; extra == 'docs'\n"
    (info / "METADATA").write_text(METADATA + lines, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    missing = ModuleNotFoundError("No module named 'markdown_it'", name="markdown_it")
    assert missing_extra(missing) == "docs"
