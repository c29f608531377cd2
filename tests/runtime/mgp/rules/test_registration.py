"""What a server that registers itself may be: its id, its command, its URL, its permissions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kinwire.mgp.rules.discovery import ListedServer, fits
from kinwire.mgp.rules.registered_command import script_index
from kinwire.mgp.rules.registration import (
    Registration,
    RegistrationApproval,
    RegistrationRefusedError,
    approval_digest,
    checked_profile,
    checked_url,
    params_problem,
)
from kinwire_protocols.base import from_wire
from kinwire_protocols.mgp.models import (
    DiscoveredServer,
    DiscoveryFilter,
    DiscoveryRegisterParams,
    ServerProfile,
)

SCRIPTS = [
    ("python", ["scripts/mcp_custom.py"], 0),
    ("python3", ["-u", "-IB", "tool.py", "-c", "--port=1"], 2),
    ("python", ["tool.py", "rm -rf /"], 0),
]
REFUSED: list[tuple[str, list[str]]] = [
    ("python", ["-c", "print()"]),
    ("python", ["-cprint()"]),
    ("python", ["-uc", "print()"]),
    ("python", ["-m", "http.server"]),
    ("python", ["-mpip", "install", "x"]),
    ("python", ["-um", "pip"]),
    ("python", ["-"]),
    ("python", ["-i", "tool.py"]),
    ("python", ["-x", "tool.py"]),
    ("python", ["-X", "presite=evil", "tool.py"]),
    ("python", ["-W", "error::evil.Warning", "tool.py"]),
    ("python", ["--", "tool.py"]),
    ("python", ["--version"]),
    ("python", []),
    ("python", ["-u"]),
    ("python", ["tools"]),  # a folder: Python runs what is in it
    ("python", ["tool.pyz"]),
    ("python", ["tool.pyc"]),
    ("python", ["tool.py", "a\nb"]),
    ("python", ["tool.py", "x" * 5000]),
    ("python", ["tool.py"] * 101),
    *[
        (command, ["tool.py"])
        for command in (
            *("sh", "bash", "zsh", "/bin/sh", "cmd.exe", "powershell", "env", "sudo", "npx"),
            *("uvx", "uv", "pipx", "npm", "bunx", "deno", "node", "docker", "ruby", "perl"),
            *("./python", "/tmp/python", "python2", "python3.13", "pythonw", "PYTHON", "python "),
            *("", "py", "kinwire"),
        )
    ],
]


def test_only_python_with_a_script_can_be_checked() -> None:
    for command, args, expected in SCRIPTS:
        assert script_index(command, args) == expected
    for command, args in REFUSED:
        with pytest.raises(RegistrationRefusedError, match=r"^/(command|args)"):
            script_index(command, args)


BASE = {"id": "dynamic.tool", "command": "python", "args": ["tool.py"]}
PROBLEMS: list[tuple[dict[str, Any], str | None]] = [
    ({}, None),
    ({"transport": "stdio"}, None),
    ({"command": None, "args": None, "url": "https://x.example", "transport": "sse"}, None),
    ({"justification": "x" * 1000}, None),
    ({"id": ""}, "/id"),
    ({"id": "a b"}, "/id"),
    ({"id": "../files"}, "/id"),
    ({"id": "f\u0131les"}, "/id"),
    ({"id": "a\n"}, "/id"),
    ({"id": ".hidden"}, "/id"),
    ({"id": "x" * 129}, "/id"),
    ({"id": "Unnamed-1"}, "/id"),
    ({"command": None}, "/command or /url"),
    ({"url": "https://x.example"}, "/command or /url"),
    ({"command": None, "url": "https://x.example"}, "/args"),
    ({"transport": "http"}, "/transport"),
    ({"command": None, "args": [], "url": "https://x.example", "transport": "stdio"}, "/transport"),
    ({"justification": "x" * 1001}, "/justification"),
]


def test_params_that_cannot_be_are_named() -> None:
    for changes, expected in PROBLEMS:
        found = params_problem(from_wire(DiscoveryRegisterParams, _without_none(changes)))
        assert (found is None) is (expected is None), changes
        assert found is None or (expected or "") in found, (changes, found)


def _without_none(changes: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in {**BASE, **changes}.items() if one is not None}


URLS = {
    "https://tools.example.com/mcp": True,
    "https://8.8.8.8/": True,
    "http://tools.example.com/mcp": False,
    "https://localhost/": False,
    "https://127.0.0.1/": False,
    "https://2130706433/": False,
    "https://10.0.0.1/": False,
    "https://169.254.169.254/": False,
    "https://[::1]/": False,
    "https://kernel.internal/": False,
    "https://user:secret@tools.example.com/": False,
    "https://tools.example.com:22/": False,
    "file:///etc/passwd": False,
    "wss://tools.example.com/": False,
    "": False,
}


def test_a_url_leads_to_the_public_internet_and_is_encrypted() -> None:
    for url, allowed in URLS.items():
        if allowed:
            assert checked_url(url) == url
            continue
        with pytest.raises(RegistrationRefusedError, match=r"^/url") as refused:
            checked_url(url)
        assert "secret" not in str(refused.value)


PERMISSIONS: list[tuple[list[str], bool]] = [
    ([], True),
    (["network.outbound", "memory.read", "network.outbound"], True),
    (["shell.execute"], False),
    (["shell"], False),
    (["filesystem"], False),  # a part of the family is dangerous
    (["code_execution"], False),
    (["com.example.own"], False),  # what is not a standard permission is dangerous
    (["Network.Outbound"], False),
    (["x y"], False),
    ([f"a{number}" for number in range(200)], False),
]


def test_a_sandboxed_server_cannot_have_dangerous_permissions() -> None:
    for names, allowed in PERMISSIONS:
        profile = ServerProfile(permissions_required=names, trust_level="trusted")
        if allowed:
            assert checked_profile(profile) == ((), tuple(dict.fromkeys(names)))
        else:
            with pytest.raises(RegistrationRefusedError, match=r"^/mgp/permissions_required"):
                checked_profile(profile)
    assert checked_profile(None) == ((), ())
    assert checked_profile(ServerProfile(extensions=["audit", "audit"])) == (("audit",), ())
    for extensions in (["x" * 129], ["a\n"], [f"e{number}" for number in range(51)]):
        with pytest.raises(RegistrationRefusedError, match=r"^/mgp/extensions"):
            checked_profile(ServerProfile(extensions=extensions))


REGISTERED = Registration(
    id="dynamic.tool",
    by_kind="agent",
    by="agent.a",
    at=1.0,
    command="python",
    args=("tool.py", "--fast"),
    script="print()",
    extensions=("security",),
    permissions=("memory.read",),
    justification="why",
)


def test_an_approval_is_bound_to_all_that_would_run() -> None:
    approved = replace(REGISTERED, approval=RegistrationApproval(REGISTERED.digest, "admin", 2.0))
    assert approved.is_approved
    assert not REGISTERED.is_approved
    for changes in (
        {"command": "python3"},
        {"args": ("tool.py", "--slow")},
        {"args": ("tool.py", "--fast", "")},
        {"script": "print(1)"},
        {"script": None},
        {"url": "https://x.example"},
    ):
        assert not replace(approved, **changes).is_approved, changes
    assert replace(approved, justification="other", at=9.0).is_approved


def test_a_digest_has_the_names_of_variables_and_not_their_values() -> None:
    given: dict[str, Any] = {"command": "node", "args": ["a", "b"]}
    plain = approval_digest(**given)
    assert approval_digest(**given, variables={"B": "1", "A": "2"}) == approval_digest(
        **given, variables=["A", "B"]
    )
    assert len({plain, approval_digest(**given, variables=["A"])}) == 2
    assert approval_digest(command="node", args=["a b"]) != plain
    assert approval_digest(command=None, args=["node", "a", "b"]) != plain


def test_a_registration_is_stored_and_read_as_it_was() -> None:
    approved = replace(REGISTERED, approval=RegistrationApproval(REGISTERED.digest, "admin", 2.0))
    for one in (REGISTERED, approved):
        assert Registration.from_json(one.to_json()) == one
    broken: list[Any] = [{}, [], {**REGISTERED.to_json(), "command": None}, {"id": "x"}, None]
    for wrong in broken:
        with pytest.raises((KeyError, TypeError, ValueError)):
            Registration.from_json(wrong)
    assert REGISTERED.is_same_as(replace(approved, at=5.0))
    assert not REGISTERED.is_same_as(replace(REGISTERED, by="agent.b"))
    assert not REGISTERED.is_same_as(replace(REGISTERED, justification="other"))


@pytest.mark.spec("mgp-15.2-Registry-Endpoint-Discovery-1")
def test_every_field_of_a_filter_must_fit() -> None:
    entry = DiscoveredServer(id="s", status="connected", extensions=["security", "streaming"])
    server = ListedServer(entry, ("network", "memory.read"))
    bare = ListedServer(DiscoveredServer(id="t", status="registered"))
    wanted: list[tuple[dict[str, Any], bool, bool]] = [
        ({}, True, True),
        ({"extensions": []}, True, True),
        ({"extensions": ["streaming"]}, True, False),
        ({"extensions": ["streaming", "audit"]}, False, False),
        ({"permissions": ["network.outbound"]}, True, False),
        ({"permissions": ["network"]}, True, False),
        ({"permissions": ["memory"]}, False, False),
        ({"status": "connected"}, True, False),
        ({"status": "registered"}, False, True),
        ({"extensions": ["security"], "status": "error"}, False, False),
    ]
    for fields, first, second in wanted:
        filter = from_wire(DiscoveryFilter, fields)
        assert (fits(server, filter), fits(bare, filter)) == (first, second), fields
    assert fits(server, None)
