"""URI templates read backwards: our own vectors, the public test suite, and expansion undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from kinwire.mcp.rules.uri_template import MAX_URI, UriTemplate
from tests.absent import shared
from tests.each import each

ROOT = Path(__file__).parents[4]
VECTORS = json.loads((ROOT / "tests/vectors/uri_template.json").read_text(encoding="utf-8"))
FILES = ["spec-examples.json", "spec-examples-by-section.json", "extended-tests.json"]


@each(
    ("template", "uri", "variables"),
    [vector for group in VECTORS["matched"].values() for vector in group],
)
def test_a_uri_gives_the_variables_back(
    template: str, uri: str, variables: dict[str, Any] | None
) -> None:
    assert UriTemplate(template).match(uri) == variables


@each(("template", "message"), VECTORS["refused"])
def test_a_template_that_cannot_be_read_backwards_is_refused(template: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        UriTemplate(template)
    assert repr(template) in str(caught.value)


def test_the_variables_are_named_in_order_and_lists_are_marked() -> None:
    assert UriTemplate("x:{b}{/a*}{?d,c*}").names == {"b": False, "a": True, "d": False, "c": True}


def test_a_very_long_uri_matches_nothing() -> None:
    template = UriTemplate("x:{+a}")
    assert template.match("x:" + "a" * (MAX_URI - 2)) is not None
    assert template.match("x:" + "a" * (MAX_URI - 1)) is None


@each(
    ("template", "unit", "end"),
    [
        ("x:{a}-{b}-{c}-{d}-{e}/", "-", "?"),
        ("x:{+a}/{+b}/{+c}/{+d}/{+e}!", "/", ""),
        ("x:{/a,b}{/c,d}{/e*}{+f}{?g*}", "/", "%"),
        ("x:{&a*}", "&a=1", "%"),
        ("x:{?a*}{&b*}{&c*}", "&b=1", "%"),
    ],
)
def test_a_uri_made_to_keep_the_server_busy_does_not(template: str, unit: str, end: str) -> None:
    # Trying one reading after another would take years.
    uri = "x:" + unit * ((MAX_URI - 10) // len(unit)) + end
    assert UriTemplate(template).match(uri) is None


# -- the public test suite --


def corpus(name: str) -> dict[str, Any]:
    text = shared(f"corpora/uri-template/{name}").read_text(encoding="utf-8")
    groups: dict[str, Any] = json.loads(text)
    return groups


SIGNS = {
    "": ("", ",", False, ""),
    "+": ("", ",", False, "!#$&'()*+,/:;=?@[]"),
    "#": ("#", ",", False, "!#$&'()*+,/:;=?@[]"),
    ".": (".", ".", False, ""),
    "/": ("/", "/", False, ""),
    ";": (";", ";", True, ""),
    "?": ("?", "&", True, ""),
    "&": ("&", "&", True, ""),
}


def expand(template: str, variables: dict[str, Any]) -> str:
    """The other direction, as plainly as RFC 6570, 3.2 puts it; without prefixes and maps."""
    out, rest = "", template
    while rest:
        literal, brace, rest = rest.partition("{")
        out += quote(literal, safe="!#$&'()*+,/:;=?@[]~%")
        if brace:
            expression, _, rest = rest.partition("}")
            out += expand_expression(expression, variables)
    return out


def expand_expression(expression: str, variables: dict[str, Any]) -> str:
    sign = expression[0] if expression[0] in SIGNS else ""
    first, separator, named, safe = SIGNS[sign]
    parts: list[str] = []
    for spec in expression[len(sign) :].split(","):
        name, exploded = spec.removesuffix("*"), spec.endswith("*")
        value = variables.get(name)
        if value is None or value == []:
            continue
        values = [value] if isinstance(value, str) else value
        texts = [quote(text, safe=safe + "~") for text in values]
        joined = texts if exploded else [",".join(texts)]
        if named:
            empty = "" if sign == ";" else "="
            joined = [f"{name}={text}" if text else name + empty for text in joined]
        parts.extend(joined)
    return first + separator.join(parts) if parts else ""


def plain(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def is_ours(template: str, variables: dict[str, Any]) -> bool:
    """Whether matching can be asked to undo it: no prefixes, no maps, no lists as one value."""
    if ":" in template.split("{", 1)[1]:
        return False
    names = [part.strip("{}+#./;?&") for part in template.replace("}", ",").split(",")]
    for name in (name.rpartition("{")[2].lstrip("+#./;?&") for name in names):
        value = variables.get(name.removesuffix("*"))
        if isinstance(value, dict) or (isinstance(value, list) and not name.endswith("*")):
            return False
    return True


@each("name", FILES)
def test_what_a_matched_uri_gives_expands_to_that_uri(name: str) -> None:
    seen = 0
    for group in corpus(name).values():
        variables = {key: plain(value) for key, value in group["variables"].items()}
        for template, expected in group["testcases"]:
            if not is_ours(template, variables):
                continue
            (uri,) = expected if isinstance(expected, list) else [expected]
            found = UriTemplate(template).match(uri)
            assert found is not None, template
            # A value of `{+x}` that was encoded already comes out decoded: the one loss.
            if "%2F" not in uri or ("+" not in template and "#" not in template):
                assert expand(template, found) == uri, template
            seen += 1
    assert seen >= 25


# What one template can say of two sets of variables: a name that is not there, or two side by side.
AMBIGUOUS = {"?{undef,y}", "up{+path}{var}/here"}


@each("name", FILES)
def test_expansion_is_undone(name: str) -> None:
    for group in corpus(name).values():
        variables = {key: plain(value) for key, value in group["variables"].items()}
        for template, expected in group["testcases"]:
            if not is_ours(template, variables) or template in AMBIGUOUS:
                continue
            (uri,) = expected if isinstance(expected, list) else [expected]
            if uri != expand(template, variables):
                continue  # `{+x}` with a value that was encoded already
            read = UriTemplate(template)
            wanted = {key: variables.get(key) for key in read.names}
            wanted = {key: value for key, value in wanted.items() if value not in (None, [])}
            for key, is_list in read.names.items():
                if is_list and isinstance(wanted.get(key), str):
                    wanted[key] = [wanted[key]]
            found = read.match(uri)
            assert found is not None, template
            # An empty value without a sign before it leaves nothing behind.
            empty = {key: "" for key, value in wanted.items() if value == "" and key not in found}
            assert {**found, **empty} == wanted, template


def test_what_the_suite_calls_no_template_is_refused() -> None:
    for group in corpus("negative-tests.json").values():
        for template, _ in group["testcases"]:
            with pytest.raises(ValueError, match="URI template"):
                UriTemplate(template)


# -- any values --

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    "template",
    ["x:{a}/{b}", "x:{a,b}", "x:{/a,b}", "x:{;a,b}", "x:{?a,b}", "x:?c{&a,b}", "x:{a}?{b}"],
)
@given(a=TEXTS, b=TEXTS)
def test_any_two_values_survive(template: str, a: str, b: str) -> None:
    variables = {"a": a, "b": b}
    assert UriTemplate(template).match(expand(template, variables)) == variables


@pytest.mark.parametrize("template", ["x:{a*}", "x:{/a*}", "x:{?a*}", "x:{;a*}"])
@given(values=st.lists(TEXTS, min_size=1, max_size=5))
def test_any_list_survives(template: str, values: list[str]) -> None:
    variables: dict[str, str | list[str]] = {"a": values}
    assert UriTemplate(template).match(expand(template, variables)) == variables


@given(a=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_is_matched_or_not_and_never_breaks(a: str) -> None:
    template = UriTemplate("x:{a}{/b*}{?c,d*}{#e}")
    found = template.match("x:" + a)
    assert found is None or set(found) <= set("abcde")
