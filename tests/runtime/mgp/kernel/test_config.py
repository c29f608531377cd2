"""Where `load_config` finds a file, and how `ConfigFile` keeps the last one that was right."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from kinwire.mgp import ConfigError, ConfigFile, KernelConfig, load_config

ONE = '[[servers]]\nid = "{}"\ncommand = "x"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder; the home folder is empty, and no variable names a file."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("MGP_CONFIG_PATH", "MCP_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    return folder


def written(path: Path, name: str) -> Path:
    """Write a file with one server of that name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ONE.format(name), encoding="utf-8")
    return path


def ids(config: KernelConfig | None) -> list[str]:
    assert config is not None
    return [spec.id for spec in config.specs]


@pytest.mark.spec(
    "mgp-15.1-1",
    "mgp-15.2-Configuration-File-Discovery-1",
    "mgp-15.2-Configuration-File-Discovery-2",
)
def test_the_first_place_with_a_file_counts_and_a_variable_comes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match=r"one of mgp\.toml, .*/servers\.toml, mcp\.toml"):
        load_config()
    later = written(folder / "mcp.toml", "later project")
    assert ids(load_config()) == ["later project"]
    monkeypatch.setenv("MCP_CONFIG_PATH", str(written(folder / "c.toml", "later variable")))
    assert ids(load_config()) == ["later variable"]
    written(folder.parent / "home/.config/mgp/servers.toml", "user")
    assert ids(load_config()) == ["user"]
    written(folder / "mgp.toml", "project")
    config = load_config()
    assert (ids(config), config.file, config.policy.file) == (["project"], "mgp.toml", "mgp.toml")
    monkeypatch.setenv("MGP_CONFIG_PATH", str(written(folder / "v.toml", "variable")))
    assert ids(load_config()) == ["variable"]
    assert ids(load_config(later)) == ["later project"]
    monkeypatch.setenv("MGP_CONFIG_PATH", "absent.toml")
    with pytest.raises(FileNotFoundError, match="absent"):  # another file is not what was meant
        load_config()
    monkeypatch.setenv("MGP_CONFIG_PATH", "")
    assert ids(load_config()) == ["project"]


def test_a_variable_is_looked_up_in_the_environment_or_where_the_program_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(folder / "mgp.toml", "a")
    file.write_text(ONE.format("a") + 'env = { A = "${A_SRC}" }\n')
    monkeypatch.setenv("A_SRC", "from the environment")
    assert load_config().specs[0].env == {"A": "from the environment"}
    assert load_config(file, variables={"A_SRC": "given"}).specs[0].env == {"A": "given"}
    assert load_config(variables={}).specs == []
    with pytest.raises(TypeError, match=r'Write load_config\("mgp.toml"\)'):
        load_config(cast(Any, 5))


BAD: dict[bytes, str] = {
    b"\xef\xbb\xbf" + ONE.encode(): "1:1: expected UTF-8 without a byte order mark",
    ONE.encode() + b"command = 'y'": "4:14: not TOML: Cannot overwrite",
    ONE.encode() + b"args = 'y'": "4:8: args: expected an array",
    ONE.encode()[:-3]: "3:12: not TOML",  # written by half
    b"#" * (10 * 1024 * 1024): "1:1: expected at most 262144 bytes, got more",
}


def test_after_an_error_the_last_good_file_counts(folder: Path) -> None:
    file = ConfigFile(written(folder / "mgp.toml", "a"))
    before = file.current
    for content, problem in BAD.items():
        (folder / "mgp.toml").write_bytes(content)
        with pytest.raises(ConfigError) as refused:
            file.reload()
        assert str(refused.value).startswith(f"{folder}/mgp.toml:{problem}")
        assert file.current is before
    written(folder / "mgp.toml", "b").chmod(0o646)
    with pytest.raises(ConfigError, match="other users can write the file"):
        file.reload()
    (folder / "mgp.toml").chmod(0o600)
    assert ids(file.reload()) == ids(file.current) == ["b"]


def test_a_change_is_seen_once_and_when_it_is_complete(folder: Path) -> None:
    path = written(folder / "mgp.toml", "a")
    file = ConfigFile()
    assert (file.poll(), file.poll()) == (None, None)
    written(path, "name1")
    assert file.poll() is None  # it may be still under way
    written(path, "name2")
    os.utime(path, ns=(1, 1))
    assert file.poll() is None
    assert ids(file.poll()) == ["name2"]
    assert (file.poll(), file.poll()) == (None, None)
    os.replace(written(folder / "new", "name3"), path)
    assert file.poll() is None
    assert ids(file.poll()) == ["name3"]
    path.write_text("[[servers]")
    assert file.poll() is None
    with pytest.raises(ConfigError, match="not TOML"):
        file.poll()
    assert (file.poll(), ids(file.current)) == (None, ["name3"])  # and it is reported once
    written(path, "name4")
    assert file.poll() is None
    assert ids(file.poll()) == ["name4"]


def test_a_file_that_appears_while_the_kernel_runs_is_not_trusted(folder: Path) -> None:
    """A tool of a server can write files where the kernel looks."""
    path = folder / "mgp.toml"
    with pytest.raises(FileNotFoundError):
        ConfigFile(path)
    file = ConfigFile(may_be_absent=True)
    assert (file.path, ids(file.current)) == ("mgp.toml", [])
    assert file.poll() is None
    written(path, "planted")
    assert file.poll() is None
    for read in (file.poll, file.reload):
        with pytest.raises(ConfigError, match=r"mgp.toml:1:1: the file was absent before"):
            read()
    assert ids(file.current) == []
    assert ids(file.reload(approved=True)) == ["planted"]
    written(path, "edited")
    assert file.poll() is None
    assert ids(file.poll()) == ["edited"]


def test_a_file_that_was_away_is_not_trusted_when_it_is_back(folder: Path) -> None:
    path = written(folder / "mgp.toml", "a")
    polled, reloaded = ConfigFile(path), ConfigFile(path)
    path.unlink()
    assert polled.poll() is None
    with pytest.raises(FileNotFoundError):
        reloaded.reload()
    written(path, "planted")
    assert polled.poll() is None
    for read in (polled.poll, reloaded.reload):
        with pytest.raises(ConfigError, match="an operator must approve it"):
            read()
    assert ids(polled.current) == ids(reloaded.current) == ["a"]


def test_a_file_in_a_place_of_a_higher_rank_is_not_taken_up_later(folder: Path) -> None:
    written(folder / "mcp.toml", "a")
    file = ConfigFile()
    written(folder / "mgp.toml", "planted")
    assert file.poll() is None
    assert ids(file.reload()) == ["a"]


def test_another_working_folder_does_not_change_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder / "mgp.toml", "a")
    file = ConfigFile("mgp.toml")
    written(folder / "below" / "mgp.toml", "planted")
    monkeypatch.chdir(folder / "below")
    assert (file.poll(), file.poll()) == (None, None)
    assert ids(file.reload()) == ["a"]
