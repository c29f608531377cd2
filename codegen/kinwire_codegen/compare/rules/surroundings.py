"""Rules of what is around the messages: data, HTTP, gRPC, offers, protocols, words: B5 to B9."""

from __future__ import annotations

__all__ = ("OF_SURROUNDINGS",)

from kinwire_codegen.compare.rules.row import Heading, Rule, wire
from kinwire_codegen.compare.verdict import Effect

_A, _C, _R = Heading.ADDED, Heading.CHANGED, Heading.REMOVED
_E = Effect

OF_SURROUNDINGS: tuple[Rule, ...] = (
    wire("B501", "data-removed", _R, _E.LOSES, "A table, machine, limit or record is gone.",
     "Programs that look it up in the bindings stop; peers see nothing."),
    wire("B502", "data-added", _A, _E.SAFE, "There is a new table, machine, limit or record.",
     "Nobody relied on it."),
    wire("B503", "data-changed", _C, _E.WARNS,
     "A table, machine, limit or record says something else.",
     "Old and new peers follow different facts: a limit or a state that one has, the other has"
     " not."),
    wire("B504", "record-format-changed", _C, _E.BREAKS, "A file has another format.",
     "New programs do not read old files, and old programs do not read new ones."),
    wire("B601", "http-changed", _C, _E.BREAKS, "What goes over HTTP has changed.",
     "Old and new peers meet at another address, with another method, or with bodies that the other"
     " does not read."),
    wire("B602", "http-removed", _R, _E.GONE, "A path, another name of one, or an event is gone.",
     "Requests for the path get 404; clients that wait for the event wait in vain."),
    wire("B603", "http-added", _A, _E.SAFE, "There is a new path, name of one, or event.",
     "Old peers do not use it."),
    wire("B604", "http-status-changed", _C, _E.WARNS, "HTTP statuses mean something else.",
     "Old peers read them in the old way."),
    wire("B701", "grpc-changed", _C, _E.BREAKS,
     "Numbers, types or names on the gRPC wire have changed.",
     "Protobuf reads by number and type: old and new peers misread each other, often silently."),
    wire("B702", "grpc-removed", _R, _E.GONE,
     "An rpc, field or value of the gRPC binding is gone.",
     "Calls are answered with UNIMPLEMENTED, fields are read as unset. Never give the number away"
     " again."),
    wire("B703", "grpc-added", _A, _E.SAFE,
     "There is a new rpc, message, field or value for gRPC.",
     "Old peers skip fields that they do not know."),
    wire("B704", "grpc-code-changed", _C, _E.WARNS, "Status codes stand for other errors.",
     "Old peers read them in the old way."),
    wire("B801", "capability-moved", _C, _E.BREAKS, "The offer sits elsewhere in `initialize`.",
     "Old and new peers do not find each other's offers. Keep the old place under"
     " `capabilityAliases`."),
    wire("B802", "capability-alias-removed", _R, _E.GONE,
     "An offer is not read at an older place now.",
     "Peers that write it there are taken for peers that offer nothing."),
    wire("B803", "capability-alias-added", _A, _E.SAFE, "An offer is also read at another place.",
     "Old peers write it where it was."),
    wire("B804", "protocol-removed", _R, _E.GONE, "A whole protocol is gone.",
     "Nothing of it is answered any more."),
    wire("B805", "protocol-added", _A, _E.SAFE,
     "There is a new protocol.", "Old peers do not speak it."),
    wire("B806", "offer-changed", _C, _E.WARNS, "An end offers something where it offered nothing,"
     " or the reverse.",
     "Old peers do not look for it, or look in vain."),
    wire("B807", "extends-changed", _C, _E.WARNS, "It builds on other protocols.",
     "Peers have to speak those as well, and names of their types and errors may lead elsewhere."),
    wire("B901", "unknown-change", _C, _E.WARNS, "Something changed that no rule knows.",
     "The document keeps the word, and the comparison does not know what it means to peers. Read"
     " it."),
    wire("B902", "removed-without-deprecation", _R, _E.WARNS,
     "Something is gone that was not deprecated before.",
     "Nobody was warned. Mark it `deprecated`, with what to use instead, for a version first."),
    wire("B903", "deprecation-withdrawn", _C, _E.SAFE, "Something is not deprecated any more.",
     "Old peers use it as before."),
    wire("B904", "value-deprecated", Heading.DEPRECATED, _E.SAFE, "A value is deprecated.",
     "It is written and read as before."),
)  # fmt: skip
