"""An installation of a peer is used again while it is whole and its pins are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.conftest import required
from tests.interop.peers import PeerMissingError, installed


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of pins; the cache folder is a new one too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pins = tmp_path / "requirements.txt"
    pins.write_text("peer==1.0\n", encoding="utf-8")
    return pins


def write_program(home: Path, pins: Path) -> None:
    (home / "program").write_bytes(pins.read_bytes())


def fail_half_way(home: Path, pins: Path) -> None:
    write_program(home, pins)
    raise PeerMissingError("no network")


def test_an_installation_is_made_once(pins: Path) -> None:
    home = installed("peer", pins, write_program)
    assert installed("peer", pins, fail_half_way) == home
    assert (home / "program").read_bytes() == pins.read_bytes()


def test_an_aborted_installation_is_not_taken_for_a_whole_one(pins: Path) -> None:
    with pytest.raises(PeerMissingError, match="no network"):
        installed("peer", pins, fail_half_way)
    home = installed("peer", pins, write_program)
    assert list(home.parent.iterdir()) == [home]


def test_other_pins_make_another_installation(pins: Path) -> None:
    first = installed("peer", pins, write_program)
    pins.write_text("peer==1.1\n", encoding="utf-8")
    second = installed("peer", pins, write_program)
    assert first != second
    assert (second / "program").read_text(encoding="utf-8") == "peer==1.1\n"


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_peer_fails_in_ci_and_skips_elsewhere(
    ci: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def install() -> None:
        raise PeerMissingError("no network")

    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no network"):
        required(install)
