"""The ready CI snippet of the docs: it is YAML, and its lines do in a repository what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from kinwire_cli.command import main
from kinwire_cli.subcommand import subcommand_names
from tests.codegen.compare.test_commands import git

ROOT = Path(__file__).parents[2]
SNIPPET = ROOT / "docs" / "protocol-checks.yml"


def steps() -> list[dict[str, Any]]:
    found = yaml.safe_load(SNIPPET.read_text(encoding="utf-8"))
    assert found[True] == "pull_request"  # `on`, which is yes to YAML
    ((job),) = found["jobs"].values()
    return [step for step in job["steps"] if "run" in step]


def commands() -> list[list[str]]:
    """The lines that run our command, as words, less where a shell sends their output."""
    lines = [shlex.split(step["run"].partition(" >> ")[0]) for step in steps()]
    return [words[1:] for words in lines if words[0] == "kinwire"]


def test_every_line_installs_us_or_is_a_command_of_ours() -> None:
    (install, *others) = [shlex.split(step["run"]) for step in steps()]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.fullmatch(r"kinwire\[(\w+)\]", install[2])
    assert install[:2] == ["pip", "install"]
    assert named is not None
    assert named[1] in extras["optional-dependencies"]
    assert [words[0] for words in others] == ["kinwire"] * len(others)
    assert [words[0] for words in commands()] == ["lint", "generate", "breaking", "diff"]


@pytest.mark.parametrize("number", range(4))
def test_every_command_takes_its_arguments(number: int, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    words = commands()[number]
    assert words[0] in subcommand_names()
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])  # what stands before it is parsed first
    assert ended.value.code == 0


def test_the_variables_of_every_line_are_set_next_to_it() -> None:
    for step in steps():
        used = set(re.findall(r"\$(\w+)", step["run"])) - {"GITHUB_STEP_SUMMARY"}
        assert used == step.get("env", {}).keys()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with our documents and what is generated of them, and a branch `main` of it."""
    for folder in ("schema", "generated"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "before")
    git(tmp_path, "tag", "v1")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


def run(line: str, folder: Path) -> tuple[int, str]:
    """Run a line as a runner does; return its exit code and what it has said."""
    command = f'kinwire() {{ "{sys.executable}" -m kinwire "$@"; }}\n{line}'
    env = {**os.environ, "BASE": "main", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def lines() -> dict[str, str]:
    """Return the lines that run our command, by its subcommand."""
    return {words[0]: step["run"] for words, step in zip(commands(), steps()[1:], strict=True)}


@pytest.mark.slow
def test_every_line_passes_on_what_is_unchanged(checkout: Path) -> None:
    for line in lines().values():
        assert run(line, checkout)[0] == 0, run(line, checkout)
    assert (checkout / "summary.md").read_text() == "### Protocols\n"


@pytest.mark.slow
def test_the_lines_tell_who_breaks_by_an_edit(checkout: Path) -> None:
    path = checkout / "schema" / "mcpl.json"
    document = json.loads(path.read_text())
    params = document["$defs"]["ChannelsPublishParams"]
    params["properties"]["urgent"] = {"type": "boolean", "description": "Whether it is urgent."}
    params["required"].append("urgent")
    params["examples"] = [example | {"urgent": True} for example in params["examples"]]
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    git(checkout, "commit", "-q", "-a", "-m", "after")
    codes = {subcommand: run(line, checkout)[0] for subcommand, line in lines().items()}
    assert codes == {"lint": 0, "generate": 1, "breaking": 1, "diff": 0}
    assert "urgent is new and required" in (checkout / "summary.md").read_text()

    breaking = lines()["breaking"]
    said = run(breaking, checkout)[1]
    assert said.startswith("::error file=schema/mcpl.json,line=")
    assert "ChannelsPublishParams.urgent is new and required" in said
    tagged = run(breaking.replace("origin/$BASE", "v1"), checkout)
    assert tagged == (1, said.replace("origin/main", "v1"))
    document["version"] = "9.0"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    assert run(breaking, checkout)[0] == 0
