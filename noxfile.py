"""Every check of the project. `nox` alone is the quick path; `.ci/run` adds the slow sessions.

Sessions use the interpreter that runs nox, so nothing is installed twice; only `pythons` makes
environments of its own, one for each newer Python that this machine has.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir

import nox
from filelock import FileLock

Version = tuple[int, int]

nox.options.sessions = ["lint", "types", "check", "breaking", "tests"]
nox.options.default_venv_backend = "none"

# Tests start hundreds of processes: without bytecode on the disk each compiles all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A second environment, or whatever else lies in the folder, is not linted.
CODE = ("runtime", "generated", "codegen", "tests", "noxfile.py")

# Sessions may run at the same time; neither pip nor apt may.
ONE_INSTALLS = FileLock(Path(gettempdir(), "kinwire-nox.lock"))

# Neighbouring tests share costly fixtures: each process begins with one stretch of the list.
IN_PARALLEL = ("--numprocesses=auto", "--dist=worksteal")


# What a newer Python can break: asyncio, which is why they run on asyncio alone, processes and
# sockets, how classes are made from annotations, and the command. The rest stands on these.
ON_NEWER_PYTHONS = (
    *("tests/generated", "tests/cli/test_call.py", "tests/cli/test_target.py"),
    *(f"tests/runtime/{folder}" for folder in ("mcp", "rpc", "storage", "support", "transports")),
    "tests/runtime/mcplite/test_appendix.py",
    *(f"tests/runtime/{name}/test_examples_played.py" for name in ("mcpe", "mcpl", "mgp")),
    *(f"tests/runtime/{name}/test_transports.py" for name in ("mcpe", "mgp")),
)


def run_module(session: nox.Session, *arguments: str) -> None:
    session.run(sys.executable, "-m", *arguments, external=True)


def at_once(session: nox.Session, *commands: tuple[str, ...]) -> None:
    """Run modules, each of which keeps one processor busy."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda command: run_module(session, *command), commands))


@nox.session
def generate(session: nox.Session) -> None:
    """Write what follows from the documents in schema/: packages, reference, a guide's table."""
    run_module(session, "kinwire", "generate", *session.posargs)
    run_module(session, "tests.protocol_table")


@nox.session
def check(session: nox.Session) -> None:
    """Fail when a document has a fault or another layout, or a generated file is stale."""
    commands = (
        ("kinwire", "lint"),
        ("kinwire", "fmt", "--check"),
        ("kinwire", "generate", "--check"),
    )
    at_once(session, *commands)


@nox.session
def breaking(session: nox.Session) -> None:
    """Fail when documents or bindings break what the last tag had; `-- REF` compares with that."""
    against = next(iter(session.posargs or tags()), None)
    if against is None:
        session.skip("there is no tag to compare with: nothing has been released")
    categories = ("--category", "wire", "--category", "bindings")
    run_module(session, "kinwire", "breaking", "--against", against, *categories)
    # A second opinion on the Python names. It knows no versions: where a protocol's rose, or our
    # own, what breaks is announced, and this is for reading.
    announced = a_protocol_rose(against) or the_library_rose(against)
    accepted = (0, 1) if announced else (0,)
    opinion = ("griffe", "check", "kinwire_protocols", "--search", "generated")
    command = (sys.executable, "-m", *opinion, "--against", against)
    session.run(*command, external=True, success_codes=accepted)


def tags() -> list[str]:
    """Return the tags that this commit comes from, the newest first."""
    command = ["git", "tag", "--merged", "HEAD", "--sort=-creatordate"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.split()


def a_protocol_rose(against: str) -> bool:
    command = [sys.executable, "-m", "kinwire", "breaking", "--against", against]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
    return any(one["announced"] for one in json.loads(done.stdout)["protocols"].values())


def the_library_rose(against: str) -> bool:
    """Return whether our version is a minor or a major one above a tag."""
    was = re.fullmatch(r"v(\d+)\.(\d+)\.\d+", against)
    text = Path("runtime/kinwire/support/version.py").read_text(encoding="utf-8")
    is_now = re.search(r'^__version__ = "(\d+)\.(\d+)', text, re.MULTILINE)
    if was is None or is_now is None:
        return False
    return tuple(map(int, is_now.groups())) > tuple(map(int, was.groups()))


@nox.session
def lint(session: nox.Session) -> None:
    """Fail on findings of ruff, code that it would format, and text that is not plain English."""
    found = ("ruff", "check", "--no-cache", *CODE)
    layout = ("ruff", "format", "--no-cache", "--check", *CODE)
    at_once(session, found, layout, ("tests.plain_english",))


@nox.session
def types(session: nox.Session) -> None:
    """Fail when a strict type checker objects."""
    at_once(session, ("mypy",), ("pyright", "--pythonpath", sys.executable))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests that need neither a network nor a package build nor much time."""
    run_module(session, "pytest", *IN_PARALLEL, *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Run all storms, breaks at every moment, long random runs, and peers that do not end."""
    run_module(session, "pytest", "-m", "faults", *IN_PARALLEL, "tests/runtime", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """Run a thousand deliveries of events by processes, of which one is killed each second."""
    test = "tests/runtime/mcpe/test_cluster_processes.py"
    env = {"KINWIRE_CLUSTER_TIMES": "1000"}
    run = ("pytest", "-m", "faults", "-s", test, *session.posargs)
    session.run(sys.executable, "-m", *run, external=True, env=env)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the guides' programs, type checkers, rarer loops, and a sample of `faults`."""
    session.env["KINWIRE_FAULTS"] = "sample"
    chosen = ("-m", "(slow or faults) and not interop and not packaging")
    bring(session, "zsh", "fish")
    install_extra(session, "semantic")
    run_module(session, "pytest", *chosen, *IN_PARALLEL, *session.posargs)


@nox.session
def properties(session: nox.Session) -> None:
    """Try all properties with five times as many examples as the quick path."""
    thorough = ("-m", "hypothesis and not browser", "--hypothesis-profile=thorough")
    run_module(session, "pytest", *thorough, *IN_PARALLEL, *session.posargs)


@nox.session
def interop(session: nox.Session) -> None:
    """Run the tests that talk to programs of other projects; installs those programs."""
    bring(session, "nginx")
    by_file = ("--numprocesses=auto", "--dist=loadfile")  # the tests of a file share a peer's run
    run_module(session, "pytest", "-m", "interop", *by_file, "tests/interop", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Load a server for half an hour over every transport, or for `-- MINUTES` (Linux only)."""
    run_module(session, "tests.runtime.transports.soak", *session.posargs)


@nox.session
def campaigns(session: nox.Session) -> None:
    """Try bytes, kills, orders and patches at random for ten minutes each, or `-- --minutes M`."""
    names = (
        *("bytes-http", "bytes-stdio", "kills-servers", "kills-writers"),
        *("orders-http", "orders-memory", "patches"),
    )
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                lambda name: run_module(session, "tests.campaigns", name, *session.posargs), names
            )
        )


@nox.session
def kills(session: nox.Session) -> None:
    """Kill writers of an audit log at every moment of a write, many times."""
    session.env["KINWIRE_KILLS"] = "90"
    test = "tests/runtime/mgp/kernel/test_audit_killed.py"
    run_module(session, "pytest", "-m", "", test, *session.posargs)


@nox.session
def streams(session: nox.Session) -> None:
    """Send 1 GiB through slow readers over every transport, and cancel 10,000 calls and streams."""
    session.env.update(KINWIRE_STREAM_MIB="1024", KINWIRE_CANCELLED="10000")
    folder = "tests/runtime/mgp"
    files = ("test_stream_memory.py", "server/test_streams.py", "kernel/test_streams.py")
    chosen = ("-m", "", "-k", "asyncio and (memory or storm)")
    run_module(
        session, "pytest", *chosen, *(f"{folder}/{file}" for file in files), *session.posargs
    )


@nox.session
def ledger(session: nox.Session) -> None:
    """Print how much of the specifications tests claim; `-- --open` and `-- --mutate` go deeper."""
    run_module(session, "tests.spec", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Print costs compared with programs of other projects; installs those programs."""
    install_extra(session, "semantic")
    run_module(session, "tests.bench", *session.posargs)


@nox.session
def packaging(session: nox.Session) -> None:
    """Build wheel and sdist, install them in clean environments, run the demo there."""
    run_module(session, "pytest", "-m", "packaging", "tests/packaging", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the reference site into site/ and check it; with a browser, click through it."""
    since = [word for tag in tags() for word in ("--against", tag)]
    run_module(session, "kinwire", "docs", "build", "--out", "site", *since)
    run_module(session, "kinwire", "docs", "check", "--out", "site")
    if os.environ.get("CI") == "true":
        install_extra(session, "browser")
    bring(session, "chromium")
    clicking = ("-m", "browser", *IN_PARALLEL, "tests/codegen/site")
    run_module(session, "pytest", *clicking, *session.posargs)


def install_extra(session: nox.Session, extra: str) -> None:
    """Install what an extra of the project needs."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = project["optional-dependencies"][extra]
    with ONE_INSTALLS:
        run_module(session, "pip", "install", "-q", "--no-compile", *needs)


def bring(session: nox.Session, *programs: str) -> None:
    """Install the system's packages of these names in CI; elsewhere tests do without."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing and os.environ.get("CI") == "true":
        install = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
        with ONE_INSTALLS:
            session.run("apt-get", "update", "-qq", external=True)
            session.run(*install, external=True, env={"DEBIAN_FRONTEND": "noninteractive"})


@nox.session
def build(session: nox.Session) -> None:
    """Put wheel and sdist into dist/."""
    shutil.rmtree("dist", ignore_errors=True)
    run_module(session, "build", "--no-isolation", "--outdir", "dist", ".")


@nox.session
def pythons(session: nox.Session) -> None:
    """Run a part of the tests on each newer Python here; `-- newest` takes only the newest."""
    found = newer_pythons()
    if not found:
        complain = session.error if os.environ.get("CI") == "true" else session.skip
        complain(f"no Python above {sys.version_info[0]}.{sys.version_info[1]} answers here")
    chosen = [max(found)] if session.posargs == ["newest"] else sorted(found)
    for version in chosen:
        session.log("Python %s.%s: %s", *version, found[version])
        run_tests_on(session, found[version], Path(".nox", "pythons", "{}.{}".format(*version)))


def run_tests_on(session: nox.Session, interpreter: Path, environment: Path) -> None:
    make = (str(interpreter), "-m", "venv", "--clear", "--without-pip", str(environment))
    session.run(*make, external=True)
    python = str(environment / "bin" / "python")
    # The pip that comes with an old Python takes three times as long as a new one.
    run_module(session, "pip", "--python", python, "install", "-q", "pip")
    session.run(python, "-m", "pip", "install", "-q", "-e", ".[test]", external=True)
    # An assertion that fails is explained by the quick path: preparing that costs much.
    kinds = ("interop", "packaging", "faults", "slow", "browser", "hypothesis")
    chosen = ("-k", "not trio", "-m", " and ".join(f"not {kind}" for kind in kinds))
    quick = (*IN_PARALLEL, "--assert=plain", *chosen, *ON_NEWER_PYTHONS)
    session.run(python, "-m", "pytest", *quick, external=True)


def newer_pythons() -> dict[Version, Path]:
    """Return one interpreter for each Python above this one, by what it answers, not its name."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [*map(Path, os.get_exec_path()), *versions.glob("*/bin")]
    candidates = (path for place in places for path in place.glob("python3.*"))
    found: dict[Version, Path] = {}
    for candidate in candidates:
        if not re.fullmatch(r"python3\.\d+", candidate.name):
            continue  # python3.12-config and the like
        version = version_of(candidate)
        if version is not None and version > sys.version_info[:2]:
            found.setdefault(version, candidate)
    return found


def version_of(interpreter: Path) -> Version | None:
    """Return the version that `interpreter` answers with, None if it does not answer.

    A shim of a version manager lies on PATH for every Python that it knows, and answers only for
    the active one.
    """
    question = [str(interpreter), "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, timeout=20, check=True)
        major, minor = map(int, answer.stdout.split())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return major, minor
