"""The rules of comparison, as data: one row a kind of change.

`verdict.py` says what an effect means where. The ids are part of what users write down, so they
stay: a rule may go, its number is not given away again.
"""

from __future__ import annotations

__all__ = ("RULES", "Heading", "Rule", "rule")

from dataclasses import dataclass
from enum import Enum

from kinwire_codegen.compare.verdict import Category, Effect

Heading = Enum("Heading", "ADDED CHANGED DEPRECATED REMOVED")
"""Where the change stands in a changelog."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change."""

    id: str
    name: str
    category: Category
    heading: Heading
    effect: Effect
    title: str
    why: str
    """What it comes to, and what to do instead where there is something."""

    @property
    def of_types(self) -> bool:
        """Whether it is about a type, which may be sent on several ways."""
        return self.id.startswith("B3")


_A, _C, _D, _R = Heading.ADDED, Heading.CHANGED, Heading.DEPRECATED, Heading.REMOVED
_BINDINGS, _DOCS = Category.BINDINGS, Category.DOCS
_E = Effect


def _wire(number: str, name: str, heading: Heading, effect: Effect, title: str, why: str) -> Rule:
    return Rule(number, name, Category.WIRE, heading, effect, title, why)


_ROWS = (
    _wire("B101", "method-removed", _R, _E.GONE, "A method or tool is gone.",
     "A request for it is answered with -32601; a notification is heard by nobody, or never comes."
     " Mark it `deprecated` for a version first."),
    _wire("B102", "method-added", _A, _E.SAFE, "There is a new method or tool.",
     "Old peers do not call it. New ones must be ready for -32601 from an old peer; a `gate` lets"
     " them know before they ask."),
    _wire("B103", "method-renamed", _C, _E.BREAKS, "A method or tool has another name on the wire.",
     "The old name is unknown to new peers and the new one to old peers. Keep the old name under"
     " `aliases`. Told from a removal and an addition by the shapes of the messages."),
    _wire("B104", "method-renamed-with-alias", _C, _E.MISSES,
     "A method or tool has another name; the old one goes on as an alias.",
     "Old senders are served. New senders use the new name, which old receivers do not know."),
    _wire("B105", "kind-changed", _C, _E.BREAKS, "A request became a notification, or the reverse.",
     "One end waits for an answer that never comes, or gets one that it did not ask for. Add a"
     " method of another name instead."),
    _wire("B106", "kind-widened", _C, _E.RELAXES, "It may now be a request or a notification.",
     "Old receivers know one of the two forms alone."),
    _wire("B107", "sender-changed", _C, _E.BREAKS, "Another end sends the method.",
     "Old peers send what new ones do not expect, and do not handle what new ones send."),
    _wire("B108", "sender-widened", _C, _E.RELAXES, "Both ends may now send the method.",
     "Old peers do not handle what used to come from themselves alone."),
    _wire("B109", "gate-moved", _C, _E.BREAKS, "Another capability gates the method.",
     "Old peers advertise the old capability and look for the old one: a new peer takes an old one"
     " for one that cannot, and the reverse."),
    _wire("B110", "alias-removed", _R, _E.GONE, "Another name of a method or tool is gone.",
     "Whoever used that name gets -32601."),
    _wire("B111", "alias-added", _A, _E.SAFE, "A method or tool has one more name.",
     "Senders that use it find old receivers that do not know it: send the first name."),
    _wire("B112", "method-withdrawn", _R, _E.GONE, "A method or tool is only considered now.",
     "It has neither stub nor handler any more."),
    _wire("B113", "method-established", _A, _E.SAFE,
     "A method or tool that was considered is there.",
     "Old peers have no handler for it."),
    _wire("B114", "method-deprecated", _D, _E.SAFE, "A method or tool is deprecated.",
     "It works as before. Say in its description what to use instead."),
    _wire("B115", "order-changed", _C, _E.WARNS,
     "Whether arrivals are handled in order has changed.",
     "Senders that relied on the order, or on the lack of it, may wait or see another outcome."),
    _wire("B116", "error-of-method-removed", _R, _E.SAFE,
     "A method is not answered with an error now.",
     "Handlers of that error run no more for this method."),
    _wire("B117", "error-of-method-added", _A, _E.SAFE,
     "A method may be answered with another error.",
     "Old senders see an error that they do not know by name, with code and message."),
    _wire("B118", "tool-entry-changed", _C, _E.WARNS, "A tool's entry in lists has changed.",
     "Hosts that decide by its annotations decide anew."),
    _wire("B119", "sender-narrowed", _C, _E.NARROWS, "One end does not send the method any more.",
     "What old peers of that end send is not expected."),
    _wire("B201", "error-removed", _R, _E.LOSES, "An error is gone.",
     "Old peers may still answer with its code, which new ones take for an error without a name."),
    _wire("B202", "error-added", _A, _E.SAFE, "There is a new error.",
     "Old peers take it for an error without a name."),
    _wire("B203", "error-code-changed", _C, _E.BREAKS, "An error has another code.",
     "Peers tell errors apart by code: the old meaning is looked for under the old one."),
    _wire("B204", "error-code-reused", _C, _E.BREAKS, "A code stands for another error now.",
     "Old peers read the new error as the old one, silently. Take a code that is free."),
    _wire("B205", "error-data-changed", _C, _E.WARNS,
     "An error has data where it had none, or the reverse.",
     "Old peers do not look for it, or look in vain; code and message say the same."),
    _wire("B301", "required-member-added", _A, _E.NARROWS, "A new member is required.",
     "Those who write the old form leave it out and are refused. Make it optional, with a default"
     " meaning for absent."),
    _wire("B302", "optional-member-added", _A, _E.SAFE, "There is a new optional member.",
     "Members that a peer does not know are kept and not heeded."),
    _wire("B303", "required-member-removed", _R, _E.MISSES, "A required member is gone.",
     "Old readers refuse messages without it. Go on sending it, deprecated, for a version."),
    _wire("B304", "optional-member-removed", _R, _E.LOSES, "An optional member is gone.",
     "What old writers send in it is not heeded; old readers take it for absent."),
    _wire("B305", "member-now-required", _C, _E.NARROWS, "A member may not be absent any more.",
     "Those who left it out are refused."),
    _wire("B306", "member-now-optional", _C, _E.RELAXES, "A member may be absent now.",
     "Old readers refuse messages without it; in Python its type becomes `X | None`."),
    _wire("B307", "member-renamed", _C, _E.BREAKS, "A member has another name.",
     "To the peer it is a removal and an addition: an old one neither writes nor reads the new"
     " name. Told from them by the same type under a like name."),
    _wire("B308", "type-narrowed", _C, _E.NARROWS, "Some kinds of values are not taken any more.",
     "Old writers may write them and are refused."),
    _wire("B309", "type-widened", _C, _E.WIDENS, "More kinds of values are taken.",
     "Old readers refuse the new kinds, or have no branch for them."),
    _wire("B310", "type-changed", _C, _E.BREAKS, "A value of another kind is expected.",
     "Neither end reads what the other writes. Add a member of another name instead."),
    _wire("B311", "values-removed", _R, _E.NARROWS, "Some values of a closed set are gone.",
     "Old writers may write them and are refused."),
    _wire("B312", "values-added", _A, _E.WIDENS, "A closed set has more values.",
     "Readers that know the set alone have no branch for them; strict ones refuse. Leave the set"
     " open from the start: `anyOf` of the enum and string."),
    _wire("B313", "variant-removed", _R, _E.NARROWS, "A union has lost a kind of object.",
     "Old writers may write it and are refused."),
    _wire("B314", "variant-added", _A, _E.WIDENS, "A union has one more kind of object.",
     "Readers that know the others alone have no branch for it; strict ones refuse."),
    _wire("B315", "constant-changed", _C, _E.BREAKS, "A constant has another value.",
     "Each end refuses the other's."),
    _wire("B316", "bounds-tightened", _C, _E.NARROWS, "A bound is tighter.",
     "Old writers may pass it and are refused."),
    _wire("B317", "bounds-loosened", _C, _E.WIDENS, "A bound is looser.",
     "Old readers refuse what lies outside the old one."),
    _wire("B318", "default-changed", _C, _E.WARNS, "An absent member means something else.",
     "Nothing fails: old and new peers behave differently."),
    _wire("B319", "null-refused", _C, _E.WARNS,
     "Null is not a value of an optional member any more.",
     "Readers take null there for absent."),
    _wire("B320", "null-taken", _C, _E.WARNS, "Null is a value of an optional member now.",
     "Old readers take null there for absent, and lose the difference."),
    _wire("B321", "pattern-changed", _C, _E.BREAKS, "A text has to match another pattern.",
     "Each end may write what the other refuses."),
    _wire("B322", "constant-member", _C, _E.WARNS, "A member with one possible value came, went or"
     " became required.",
     "Readers fill it in where it is absent; writers of the old form are understood."),
    _wire("B323", "validators-only", _C, _E.WARNS, "What only validators look at has changed.",
     "The bindings do not look at formats, at `uniqueItems`, at which members go together and at"
     " whether others are refused; peers may."),
    _wire("B324", "member-deprecated", _D, _E.SAFE, "A member or a type is deprecated.",
     "It works as before. Say in its description what to use instead."),
    _wire("B325", "discriminator-changed", _C, _E.BREAKS,
     "Another member tells the objects of a union apart.",
     "Each end looks for a member that the other does not write. Go on writing the old one too."),
    _wire("B401", "augment-removed", _R, _E.LOSES, "A member is no longer added to a message.",
     "What old writers send in it is not heeded; old readers take it for absent."),
    _wire("B402", "augment-added", _A, _E.SAFE,
     "A member is added to a message of another protocol.",
     "Members that a peer does not know are kept and not heeded."),
    _wire("B403", "augment-writer-changed", _C, _E.BREAKS, "Another end writes an added member.",
     "Old peers write what nobody reads, and wait for what nobody writes."),
    _wire("B501", "data-removed", _R, _E.LOSES, "A table, machine, limit or record is gone.",
     "Programs that look it up in the bindings stop; peers see nothing."),
    _wire("B502", "data-added", _A, _E.SAFE, "There is a new table, machine, limit or record.",
     "Nobody relied on it."),
    _wire("B503", "data-changed", _C, _E.WARNS,
     "A table, machine, limit or record says something else.",
     "Old and new peers follow different facts: a limit or a state that one has, the other has"
     " not."),
    _wire("B601", "http-changed", _C, _E.BREAKS, "What goes over HTTP has changed.",
     "Old and new peers meet at another address, with another verb, or with bodies that the other"
     " does not read."),
    _wire("B602", "http-removed", _R, _E.GONE, "A path, another name of one, or an event is gone.",
     "Who asks for the path gets 404; who waits for the event waits."),
    _wire("B603", "http-added", _A, _E.SAFE, "There is a new path, name of one, or event.",
     "Old peers do not use it."),
    _wire("B604", "http-status-changed", _C, _E.WARNS, "HTTP statuses mean something else.",
     "Old peers read them in the old way."),
    _wire("B701", "grpc-changed", _C, _E.BREAKS,
     "Numbers, types or names on the gRPC wire have changed.",
     "Protobuf reads by number and type: old and new peers misread each other, often silently."),
    _wire("B702", "grpc-removed", _R, _E.GONE,
     "An rpc, field or value of the gRPC binding is gone.",
     "Calls are answered with UNIMPLEMENTED, fields are read as unset. Never give the number away"
     " again."),
    _wire("B703", "grpc-added", _A, _E.SAFE,
     "There is a new rpc, message, field or value for gRPC.",
     "Old peers skip fields that they do not know."),
    _wire("B704", "grpc-code-changed", _C, _E.WARNS, "Status codes stand for other errors.",
     "Old peers read them in the old way."),
    _wire("B801", "capability-moved", _C, _E.BREAKS, "The offer sits elsewhere in `initialize`.",
     "Old and new peers do not find each other's offers. Keep the old place under"
     " `capabilityAliases`."),
    _wire("B802", "capability-alias-removed", _R, _E.GONE,
     "An offer is not read at an older place now.",
     "Peers that write it there are taken for peers that offer nothing."),
    _wire("B803", "capability-alias-added", _A, _E.SAFE, "An offer is also read at another place.",
     "Old peers write it where it was."),
    _wire("B804", "protocol-removed", _R, _E.GONE, "A whole protocol is gone.",
     "Nothing of it is answered any more."),
    _wire("B805", "protocol-added", _A, _E.SAFE,
     "There is a new protocol.", "Old peers do not speak it."),
    _wire("B806", "offer-changed", _C, _E.WARNS, "An end offers something where it offered nothing,"
     " or the reverse.",
     "Old peers do not look for it, or look in vain."),

    Rule("P101", "class-renamed", _BINDINGS, _C, _E.STOPS, "A type has another name in Python.",
     "Nothing changes on the wire; programs that name the class stop. Told from a removal and an"
     " addition by where it stands."),
    Rule("P102", "class-removed", _BINDINGS, _R, _E.STOPS, "A class is gone.",
     "Programs that name it stop."),
    Rule("P103", "class-added", _BINDINGS, _A, _E.SAFE, "There is a new class.",
     "Programs that import names with `*` may find one of theirs hidden."),
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
    Rule("D101", "description-changed", _DOCS, _C, _E.SAFE, "A description says something else.",
     "Readers only."),
    Rule("D102", "section-moved", _DOCS, _C, _E.SAFE, "It stands elsewhere in the specification.",
     "Links by section go elsewhere."),
    Rule("D103", "decision-changed", _DOCS, _C, _E.SAFE, "What a document decides has changed.",
     "Read it: what the specification leaves open is settled there."),
    Rule("D104", "anchor-removed", _DOCS, _R, _E.WARNS,
     "A page or an anchor of the reference is gone.",
     "Links to it lead nowhere."),
    Rule("D105", "annotation-only", _DOCS, _C, _E.SAFE,
     "A `format`, an example or a word that nobody"
     " checks has changed.",
     "Readers only."),
    Rule("D106", "sequence-added", _DOCS, _A, _E.SAFE, "There is a new sequence of messages.",
     "Readers only."),
)  # fmt: skip

RULES: dict[str, Rule] = {found.id: found for found in _ROWS}
"""Every rule by its id."""

_BY_NAME = {found.name: found for found in RULES.values()}


def rule(name: str) -> Rule:
    """Return the rule of that name."""
    return _BY_NAME[name]
