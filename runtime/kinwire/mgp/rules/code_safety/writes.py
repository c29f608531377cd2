"""What the level `readonly` blocks in addition to `strict`: sending, and changes of the process."""

from __future__ import annotations

__all__ = ("NETWORK", "environment_rule", "sending_rule")

import ast
from collections.abc import Iterator

from kinwire.mgp.rules.code_safety.code import CheckedCode

NETWORK = frozenset(
    {"aiohttp", "http.client", "httpx", "requests", "urllib.request", "urllib3", "websockets"}
)
"""Modules that send requests."""

_SENDS = frozenset(
    {
        *("build_request", "delete", "endheaders", "patch", "post", "put", "putrequest", "request"),
        *("Request", "send", "stream", "urlopen", "ws_connect", "connect"),
    }
)
_ENVIRONMENT = (("os", "environ"), ("os", "environb"))
_READS = frozenset({"copy", "get", "items", "keys", "values", "__contains__", "__getitem__"})
_XML_WRITES = frozenset({"write", "writexml"})


def sending_rule(code: CheckedCode, node: ast.Attribute) -> Iterator[str]:
    """Yield the violation of a request that may change something, or of XML that is written."""
    is_network = bool(code.imported & NETWORK)
    sends = is_network and node.attr in _SENDS
    writes = "xml" in code.imported and node.attr in _XML_WRITES
    if (sends or writes) and not _is_standard_stream(code, node):
        yield f"Blocked write: '.{node.attr}('"


def _is_standard_stream(code: CheckedCode, node: ast.Attribute) -> bool:
    return any(path[0] == "sys" for path in code.paths(node))


def environment_rule(code: CheckedCode, node: ast.Attribute | ast.Name) -> Iterator[str]:
    """Yield the violation of the environment unless it is only read."""
    if not isinstance(node.ctx, ast.Load) or not set(code.paths(node)) & set(_ENVIRONMENT):
        return
    match code.parent(node):
        case ast.Attribute(attr=name) if name in _READS:
            return
        case ast.Subscript(ctx=ast.Load()) | ast.Compare():
            return
        case _:
            yield "Blocked write: 'os.environ'"
