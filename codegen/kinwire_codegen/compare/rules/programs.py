"""Rules of what goes over no wire: names in Python and words for readers: P and D."""

from __future__ import annotations

__all__ = ("OF_PROGRAMS",)

from kinwire_codegen.compare.rules.row import Heading, Rule
from kinwire_codegen.compare.verdict import Category, Effect

_A, _C, _R = Heading.ADDED, Heading.CHANGED, Heading.REMOVED
_BINDINGS, _DOCS = Category.BINDINGS, Category.DOCS
_E = Effect

OF_PROGRAMS: tuple[Rule, ...] = (
    Rule("P101", "class-renamed", _BINDINGS, _C, _E.STOPS, "A type has another name in Python.",
     "Nothing changes on the wire; programs that name the class stop. A renamed type is recognized"
     " by its place."),
    Rule("P102", "class-removed", _BINDINGS, _R, _E.STOPS, "A class is gone.",
     "Programs that name it stop."),
    Rule("P103", "class-added", _BINDINGS, _A, _E.SAFE, "There is a new class.",
     "Programs that import names with `*` may have a name of their own hidden by it."),
    Rule("P104", "annotation-changed", _BINDINGS, _C, _E.STOPS,
     "A member has another type in Python.",
     "The values on the wire are the same; code that makes or names the old class stops, or is"
     " refused by a type checker."),
    Rule("P105", "error-class-renamed", _BINDINGS, _C, _E.STOPS, "An error has another name.",
     "The code is the same; `except` with the old name stops."),
    Rule("P106", "name-changed", _BINDINGS, _C, _E.STOPS,
     "A stub, handler or row has another name.",
     "Programs that call it stop."),
    Rule("P107", "constant-removed", _BINDINGS, _R, _E.STOPS, "A constant of `tables` is gone.",
     "Programs that look it up stop."),
    Rule("P109", "name-removed", _BINDINGS, _R, _E.STOPS,
     "A stub, handler, row or augment is gone, or the module of a protocol.",
     "Programs that name it stop."),
    Rule("P110", "field-renamed", _BINDINGS, _C, _E.STOPS, "A field of a class has another name.",
     "Programs that read it, or pass it to the class or to a stub, stop."),
    Rule("P111", "field-removed", _BINDINGS, _R, _E.STOPS, "A field of a class is gone.",
     "Programs that read it stop; it is an unknown field where they pass it."),
    Rule("P108", "values-unlisted", _BINDINGS, _R, _E.WARNS,
     "An open set does not list some values any more.",
     "They are taken as before, as any other value is; editors and type checkers do not know them"
     " by name."),
    Rule("P112", "value-renamed", _BINDINGS, _C, _E.STOPS,
     "The constant of a value has another name.",
     "Programs that name it stop."),
    Rule("D101", "description-changed", _DOCS, _C, _E.SAFE, "A description says something else.",
     "Readers only."),
    Rule("D102", "section-moved", _DOCS, _C, _E.SAFE, "It stands elsewhere in the specification.",
     "Links by section lead to another place."),
    Rule("D103", "decision-changed", _DOCS, _C, _E.SAFE, "What a document decides has changed.",
     "Read it: it settles what the specification leaves open."),
    Rule("D104", "anchor-removed", _DOCS, _R, _E.WARNS,
     "A page or an anchor of the reference is gone.",
     "Links to it lead nowhere."),
    Rule("D105", "annotation-only", _DOCS, _C, _E.SAFE,
     "A `format`, an example or a keyword that"
     " is not checked has changed.",
     "Readers only."),
    Rule("D106", "sequence-added", _DOCS, _A, _E.SAFE, "There is a new sequence of messages.",
     "Readers only."),
    Rule("D107", "extension-changed", _DOCS, _C, _E.SAFE,
     "A word that begins with `x-` has changed.",
     "Only those notice who read it: the vendor's tools, and templates."),
    Rule("D108", "written-differently", _DOCS, _C, _E.SAFE, "It is written in another way.",
     "It means the same to peers and programs, so it breaks nobody."),
    Rule("D109", "version-changed", _DOCS, _C, _E.SAFE, "The protocol has another version.",
     "If it rose, breaking changes are announced."),
)  # fmt: skip
