"""Rules of types, and of members that are added to them: B3 and B4."""

from __future__ import annotations

__all__ = ("OF_TYPES",)

from kinwire_codegen.compare.rules.row import Heading, Rule, wire
from kinwire_codegen.compare.verdict import Effect

_A, _C, _D, _R = Heading.ADDED, Heading.CHANGED, Heading.DEPRECATED, Heading.REMOVED
_E = Effect

OF_TYPES: tuple[Rule, ...] = (
    wire("B301", "required-member-added", _A, _E.NARROWS, "A new member is required.",
     "Those who write the old form leave it out and are refused. Make it optional, with a default"
     " meaning for absent."),
    wire("B302", "optional-member-added", _A, _E.SAFE, "There is a new optional member.",
     "Peers preserve unknown members and ignore them."),
    wire("B303", "required-member-removed", _R, _E.MISSES, "A required member is gone.",
     "Old readers refuse messages without it. Go on sending it, deprecated, for a version."),
    wire("B304", "optional-member-removed", _R, _E.LOSES, "An optional member is gone.",
     "New readers ignore what old writers send in it; old readers treat it as absent."),
    wire("B305", "member-now-required", _C, _E.NARROWS, "A member may not be absent any more.",
     "Those who left it out are refused."),
    wire("B306", "member-now-optional", _C, _E.RELAXES, "A member may be absent now.",
     "Old readers refuse messages without it; in Python its type becomes `X | None`."),
    wire("B307", "member-renamed", _C, _E.BREAKS, "A member has another name.",
     "To the peer it is a removal and an addition: an old one neither writes nor reads the new"
     " name. It is recognized by the same type under a similar name."),
    wire("B308", "type-narrowed", _C, _E.NARROWS, "Some kinds of values are not taken any more.",
     "Old writers may write them and are refused."),
    wire("B309", "type-widened", _C, _E.WIDENS, "More kinds of values are taken.",
     "Old readers refuse the new kinds, or have no branch for them."),
    wire("B310", "type-changed", _C, _E.BREAKS, "A value of another kind is expected.",
     "Neither end reads what the other writes. Add a member of another name instead."),
    wire("B311", "values-removed", _R, _E.NARROWS, "Some values of a closed set are gone.",
     "Old writers may write them and are refused."),
    wire("B312", "values-added", _A, _E.WIDENS, "A closed set has more values.",
     "Readers that know the set alone have no branch for them; strict ones refuse. Leave the set"
     " open from the start: `anyOf` of the enum and string."),
    wire("B313", "variant-removed", _R, _E.NARROWS, "A union has lost a kind of object.",
     "Old writers may write it and are refused."),
    wire("B314", "variant-added", _A, _E.WIDENS, "A union has one more kind of object.",
     "Readers that know the others alone have no branch for it; strict ones refuse."),
    wire("B315", "constant-changed", _C, _E.BREAKS, "A constant has another value.",
     "Each end refuses the other's."),
    wire("B316", "bounds-tightened", _C, _E.NARROWS, "A bound is tighter.",
     "Old writers may pass it and are refused."),
    wire("B317", "bounds-loosened", _C, _E.WIDENS, "A bound is looser.",
     "Old readers refuse what lies outside the old one."),
    wire("B318", "default-changed", _C, _E.WARNS, "An absent member means something else.",
     "Nothing fails: old and new peers behave differently."),
    wire("B319", "null-refused", _C, _E.WARNS,
     "Null is not a value of an optional member any more.",
     "Readers take null there for absent."),
    wire("B320", "null-taken", _C, _E.WARNS, "Null is a value of an optional member now.",
     "Old readers take null there for absent, and lose the difference."),
    wire("B321", "pattern-changed", _C, _E.BREAKS, "A text has to match another pattern.",
     "Each end may write what the other refuses."),
    wire("B323", "validators-only", _C, _E.WARNS, "What only validators look at has changed.",
     "The bindings do not look at formats and at whether others are refused; peers may."),
    wire("B324", "member-deprecated", _D, _E.SAFE, "A member or a type is deprecated.",
     "It works as before. Say in its description what to use instead."),
    wire("B325", "discriminator-changed", _C, _E.BREAKS,
     "The objects of a union are distinguished by another member.",
     "Each end looks for a member that the other does not write. Go on writing the old one too."),
    wire("B326", "tag-now-required", _C, _E.NARROWS,
     "The objects of a union are distinguished by a member that old writers leave out.",
     "Readers fill constants in, but not the one that says which object it is. Leave the"
     " union without a discriminator until all write the member."),
    wire("B327", "tag-now-optional", _C, _E.RELAXES,
     "The member that distinguishes the objects of a union may be absent now.",
     "Old readers cannot tell which object it is without it. Go on writing it."),
    wire("B328", "tag-removed", _R, _E.MISSES,
     "The member that distinguished the objects of a union is gone.",
     "Old readers cannot tell which object it is without it. Go on writing it for a version."),
    wire("B401", "augment-removed", _R, _E.LOSES, "A member is no longer added to a message.",
     "New readers ignore what old writers send in it; old readers treat it as absent."),
    wire("B402", "augment-added", _A, _E.SAFE,
     "A member is added to a message of another protocol.",
     "Peers preserve unknown members and ignore them."),
    wire("B403", "augment-writer-changed", _C, _E.BREAKS, "Another end writes an added member.",
     "Old peers write a member that is not read, and wait for one that is not written."),
)  # fmt: skip
