"""A missing extra is installed from where the rest came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire.cli.extras import install_command

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
