"""The protocol files of Chrome DevTools as one document: `browser_protocol.json` and others.

The npm package `devtools-protocol` has them. A command is a request of the client, an event a
notification of the browser. Their messages are those of JSON-RPC without `jsonrpc`.
"""

from __future__ import annotations

__all__ = ("cdp_document", "read_cdp")

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.assembling import MethodDraft, ProtocolDraft, assembled
from kinwire_codegen.imports.drafts import DraftTypes
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.reading import check_names, entry, read_json

Node = dict[str, Any]

_NAMED = ("types", "commands", "events")
_EMPTY = "EmptyResult"


def read_cdp(source: ImportSource) -> Imported:
    """Return the document of all files together.

    Raises:
        UselessFileError: a file has no list of domains.
    """
    contents = [read_json(path) for path in source.files]
    for path, content in zip(source.files, contents, strict=True):
        if not isinstance(content, dict) or not isinstance(content.get("domains"), list):
            text = "it is not a protocol of Chrome DevTools: it has no list 'domains'."
            raise UselessFileError(text, "Name browser_protocol.json and js_protocol.json.", path)
        _check(content["domains"], path)
    whole = [one for content in contents for one in content["domains"]]
    check_names(whole, "domain", "domains", source.files[-1])
    return cdp_document(contents, source)


def _check(domains: list[Any], path: Path) -> None:
    """Refuse domains without names, and two entries of one name in a domain."""
    check_names(domains, "domain", "domains", path)
    for one in domains:
        check_names(one.get("types", []), "id", f"types of {one['domain']}", path)
        calls = (one.get("commands", []), one.get("events", []))
        whole: list[Any] = []
        for entries in calls:
            check_names(entries, "name", f"commands and events of {one['domain']}", path)
            whole += entries
        check_names(whole, "name", f"commands and events of {one['domain']}", path)


def cdp_document(contents: list[Node], source: ImportSource) -> Imported:
    """Return the document of several protocol files; `source` has what the user chose."""
    domains = {one["domain"]: one for content in contents for one in content["domains"]}
    parts = contents[0].get("version", {})
    version = source.version or f"{parts.get('major', 1)}.{parts.get('minor', 0)}"
    draft = ProtocolDraft(
        name=source.protocol or "cdp",
        title="Chrome DevTools Protocol",
        version=version,
        description=f"The domains {', '.join(domains)} of the Chrome DevTools Protocol.",
        roles={"client": "client", "server": "browser"},
        extra={"x-cdp-domains": {name: _domain(one) for name, one in domains.items()}},
        methods={
            f"{domain}.{name}": method
            for domain, content in domains.items()
            for name, method in _methods(domain, content)
        },
        keeps_unused=True,
    )
    definitions = {
        f"{domain}.{one['id']}": _named_type(one, domain)
        for domain, content in domains.items()
        for one in content.get("types", ())
    }
    definitions[_EMPTY] = {"description": "Of a command that returns nothing.", **_object((), "")}
    return assembled(draft, DraftTypes(definitions, source.taken))


def _domain(domain: Node) -> Node:
    return {key: value for key, value in domain.items() if key not in ("domain", *_NAMED)}


def _methods(domain: str, content: Node) -> Iterator[tuple[str, MethodDraft]]:
    for one in content.get("commands", ()):
        yield one["name"], _method(domain, one, "request", "client")
    for one in content.get("events", ()):
        yield one["name"], _method(domain, one, "notification", "server")


def _method(domain: str, one: Node, kind: str, sender: str) -> MethodDraft:
    with entry(f"{domain}.{one['name']}"):
        return _draft(domain, one, kind, sender)


def _draft(domain: str, one: Node, kind: str, sender: str) -> MethodDraft:
    found: Node = {}
    if one.get("parameters"):
        found["params"] = _object(one["parameters"], domain)
    if kind == "request":
        returns = one.get("returns")
        empty = {"$ref": f"#/$defs/{_EMPTY}"}
        found["result"] = _object(returns, domain) if returns else empty
    more = _annotations(one)
    if "redirect" in one:
        more["x-cdp-redirect"] = one["redirect"]
    text = one.get("description", "")
    return MethodDraft(kind, sender, f"{domain}.{one['name']}", text, found, more)


def _named_type(one: Node, domain: str) -> Node:
    with entry(f"the type {domain}.{one['id']}"):
        return _type(one, domain)


def _type(one: Node, domain: str) -> Node:
    found: Node = {key: one[key] for key in ("description", "enum") if key in one}
    if "$ref" in one:
        name = one["$ref"]
        found["$ref"] = f"#/$defs/{name if '.' in name else f'{domain}.{name}'}"
    elif "properties" in one:
        found |= _object(one["properties"], domain)
    elif "items" in one:
        found |= {"type": "array", "items": _type(one["items"], domain)}
    elif one["type"] in ("any", "binary"):  # binary data goes as Base64
        found |= {} if one["type"] == "any" else {"type": "string"}
    else:
        found["type"] = one["type"]
    return found | _annotations(one)


def _object(properties: Any, domain: str) -> Node:
    found: Node = {
        "type": "object",
        "properties": {p["name"]: _type(p, domain) for p in properties},
    }
    required = [one["name"] for one in properties if not one.get("optional")]
    return found | ({"required": required} if required else {})


def _annotations(one: Node) -> Node:
    found: Node = {"deprecated": True} if one.get("deprecated") else {}
    return found | ({"x-cdp-experimental": True} if one.get("experimental") else {})
