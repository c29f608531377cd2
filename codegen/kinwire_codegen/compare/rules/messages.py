"""Rules of methods, tools and errors: B1 and B2."""

from __future__ import annotations

__all__ = ("OF_MESSAGES",)

from kinwire_codegen.compare.rules.row import Heading, Rule, wire
from kinwire_codegen.compare.verdict import Effect

_A, _C, _D, _R = Heading.ADDED, Heading.CHANGED, Heading.DEPRECATED, Heading.REMOVED
_E = Effect

OF_MESSAGES: tuple[Rule, ...] = (
    wire("B101", "method-removed", _R, _E.GONE, "A method or tool is gone.",
     "A request for it is answered with -32601; a notification is ignored, or never arrives."
     " Mark it `deprecated` for a version first."),
    wire("B102", "method-added", _A, _E.SAFE, "There is a new method or tool.",
     "Old peers do not call it. New ones must be ready for -32601 from an old peer; a `gate` lets"
     " them know before they ask."),
    wire("B103", "method-renamed", _C, _E.BREAKS, "A method or tool has another name on the wire.",
     "The old name is unknown to new peers and the new one to old peers. Keep the old name under"
     " `aliases`. It is recognized by the shapes of the messages."),
    wire("B104", "method-renamed-with-alias", _C, _E.MISSES,
     "A method or tool has another name; the old one goes on as an alias.",
     "Old senders are served. New senders use the new name, which old receivers do not know."),
    wire("B105", "kind-changed", _C, _E.BREAKS, "A request became a notification, or the reverse.",
     "One end waits for an answer that never comes, or gets one that it did not ask for. Add a"
     " method of another name instead."),
    wire("B106", "kind-widened", _C, _E.RELAXES, "It may now be a request or a notification.",
     "Old receivers know one of the two forms alone."),
    wire("B107", "sender-changed", _C, _E.BREAKS, "Another end sends the method.",
     "Old peers send what new ones do not expect, and do not handle what new ones send."),
    wire("B108", "sender-widened", _C, _E.RELAXES, "Both ends may now send the method.",
     "Old peers do not handle what used to come from themselves alone."),
    wire("B109", "gate-moved", _C, _E.BREAKS, "Another capability gates the method.",
     "Old peers advertise the old capability and look for the old one: a new peer takes an old one"
     " for one that cannot, and the reverse."),
    wire("B110", "alias-removed", _R, _E.GONE, "Another name of a method or tool is gone.",
     "Peers that use that name get -32601."),
    wire("B111", "alias-added", _A, _E.SAFE, "A method or tool has one more name.",
     "Senders that use it find old receivers that do not know it: send the first name."),
    wire("B112", "method-withdrawn", _R, _E.GONE, "A method or tool is only considered now.",
     "It no longer has a stub or a handler."),
    wire("B113", "method-established", _A, _E.SAFE,
     "A method or tool that was considered is now defined.",
     "Old peers have no handler for it."),
    wire("B114", "method-deprecated", _D, _E.SAFE, "A method or tool is deprecated.",
     "It works as before. Say in its description what to use instead."),
    wire("B115", "order-changed", _C, _E.WARNS,
     "Whether arrivals are handled in order has changed.",
     "Senders that relied on the order, or on the lack of it, may wait or see another outcome."),
    wire("B116", "error-of-method-removed", _R, _E.SAFE,
     "A method is not answered with an error now.",
     "Handlers of that error run no more for this method."),
    wire("B117", "error-of-method-added", _A, _E.SAFE,
     "A method may be answered with another error.",
     "Old senders see an error that they do not know by name, with code and message."),
    wire("B118", "tool-entry-changed", _C, _E.WARNS, "A tool's entry in lists has changed.",
     "Hosts that decide by its annotations may decide differently."),
    wire("B119", "sender-narrowed", _C, _E.NARROWS, "One end does not send the method any more.",
     "What old peers of that end send is not expected."),
    wire("B120", "kind-narrowed", _C, _E.NARROWS,
     "It may not be a request any more, or not a notification.",
     "What old senders send in the other form is not expected."),
    wire("B121", "part-changed", _C, _E.BREAKS,
     "A method has params or a result where it had none, or the reverse, or in another form.",
     "Old peers send and expect the old form. Add a method of another name instead."),
    wire("B122", "output-schema-added", _A, _E.SAFE, "A tool says what its output is.",
     "It answered with any result before. Old callers read that as they did."),
    wire("B123", "output-schema-removed", _R, _E.MISSES,
     "A tool does not say what its output is any more.",
     "Old callers read the structured output, which may be missing now."),
    wire("B124", "part-of-method-changed", _C, _E.WARNS,
     "Partial results or the registration of a method came, went or have another name.",
     "Old peers do not look for them, or look in vain."),
    wire("B201", "error-removed", _R, _E.LOSES, "An error is gone.",
     "Old peers may still answer with its code, which new ones take for an error without a name."),
    wire("B202", "error-added", _A, _E.SAFE, "There is a new error.",
     "Old peers take it for an error without a name."),
    wire("B203", "error-code-changed", _C, _E.BREAKS, "An error has another code.",
     "Peers tell errors apart by code: the old meaning is looked for under the old one."),
    wire("B204", "error-code-reused", _C, _E.BREAKS, "A code stands for another error now.",
     "Old peers read the new error as the old one, silently. Take a code that is free."),
    wire("B205", "error-data-changed", _C, _E.WARNS,
     "An error has data where it had none, or the reverse.",
     "Old peers do not look for it, or look in vain; code and message say the same."),
    wire("B206", "error-deprecated", _D, _E.SAFE, "An error is deprecated.",
     "It is answered as before. Say in `deprecated` what to use instead."),
)  # fmt: skip
