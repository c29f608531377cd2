"""Errors of two sides: peers distinguish them by code, programs by name."""

from __future__ import annotations

__all__ = ("compare_errors", "renamed_errors")

from collections.abc import Iterator

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.deprecation import is_deprecated
from kinwire_codegen.compare.flows import data_flow
from kinwire_codegen.compare.verdict import Way
from kinwire_codegen.load.document import Document


def compare_errors(before: Document, after: Document) -> Iterator[DocumentChange]:
    """Yield what changed in the errors of one protocol, except the types of their data."""
    olds, news = before.table("errors"), after.table("errors")
    renamed = renamed_errors(before, after)
    for name, error in olds.items():
        if name in renamed:
            what = f"error {name} is {renamed[name]} now, with the same code {error['code']}"
            yield _told("error-class-renamed", after, renamed[name], what)
        elif name not in news:
            yield _told("error-removed", before, name, f"error {name} is gone", gone=True)
            if not is_deprecated(error):
                what = f"error {name} was not deprecated before it was removed"
                yield _told("removed-without-deprecation", before, name, what, gone=True)
        elif news[name]["code"] != error["code"]:
            what = f"error {name} had the code {error['code']} and has {news[name]['code']}"
            yield _told("error-code-changed", after, name, what, "code")
    for name in news:
        if name not in olds and name not in renamed.values():
            yield _told("error-added", after, name, f"error {name} is new")
    yield from _data(before, after)
    yield from _reused(before, after, renamed)


def renamed_errors(before: Document, after: Document) -> dict[str, str]:
    """Return the new names of errors that have another name and the same code and message."""
    return dict(_renamed(before, after))


def _renamed(before: Document, after: Document) -> Iterator[tuple[str, str]]:
    fresh = {
        error["code"]: name
        for name, error in after.table("errors").items()
        if name not in before.table("errors")
    }
    for name, error in before.table("errors").items():
        if name not in after.table("errors") and error["code"] in fresh:
            there = after.table("errors")[fresh[error["code"]]]
            if there["message"] == error["message"]:  # else the code stands for something else
                yield name, fresh[error["code"]]


def _data(before: Document, after: Document) -> Iterator[DocumentChange]:
    olds = before.table("errors")
    for name, error in after.table("errors").items():
        if name in olds and ("data" in error) != ("data" in olds[name]):
            word = "has" if "data" in error else "has no"
            yield _told("error-data-changed", after, name, f"error {name} {word} data now")


def _reused(before: Document, after: Document, renamed: dict[str, str]) -> Iterator[DocumentChange]:
    owners = {error["code"]: name for name, error in before.table("errors").items()}
    for name, error in after.table("errors").items():
        owner = owners.get(error["code"], name)
        if owner != name and renamed.get(owner) != name:
            what = f"code {error['code']} stood for {owner} and stands for {name}"
            yield _told("error-code-reused", after, name, what, "code")


def _told(
    rule: str, document: Document, name: str, what: str, *steps: str, gone: bool = False
) -> DocumentChange:
    place = ("errors", name, *steps)
    flow = data_flow(document, f"error {name}", Way.RESULT)
    anchor = anchor_of(document, () if gone else place)
    return changed(rule, document.name, place, what, flows=[flow], gone=gone, anchor=anchor)
