"""What is said of a configuration before a kernel starts with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinwire_cli.upkeep.configuration import read_config


def test_a_file_without_servers_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mgp.toml"
    server = '\nid = "box"\ncommand = "python"\n'
    for head, is_empty in (("[[server]]", True), ("[[servers]]", False)):
        file.write_text(head + server, encoding="utf-8")
        read_config(file)
        said = capsys.readouterr().err
        warning = f"warning: {file} names no servers. Write [[servers]] for each one.\n"
        assert (warning in said) is is_empty
