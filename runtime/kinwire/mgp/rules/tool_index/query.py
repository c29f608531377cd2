"""Makes weighted terms of a query (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("QUERY_SIZE", "Terms", "terms_of")

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from kinwire.mgp.rules.tool_index.postings import SeenPostings, WeightedTerm
from kinwire.mgp.rules.tool_index.spelling import Comparisons, KnownWords
from kinwire.mgp.rules.tool_index.synonyms import SYNONYMS
from kinwire.mgp.rules.tool_index.words import STOP_STEMS, stems_of

QUERY_SIZE: Final = 2000
"""How many characters of a query are looked at."""

_MOST_WORDS: Final = 64
_STOP: Final = 0.1
_SYNONYM: Final = 0.35
_MANY: Final = 50  # tools
_MISSPELT: Final = 0.7
_BEGINNING: Final = 4  # letters of a misspelt word that may be all that is known of it
_MOST_MISSPELT: Final = 16  # words of a query: looking for one takes up to a millisecond


class Terms(NamedTuple):
    """What a query looks for."""

    terms: list[WeightedTerm]
    most: float
    """A score that fits the query wholly: what its own words can add."""


def terms_of(query: str, postings: SeenPostings, known: KnownWords) -> Terms:
    """Return the terms of a query, with words of a like meaning or spelling."""
    stems = list(dict.fromkeys(stems_of(query[:QUERY_SIZE])))[:_MOST_WORDS]
    content = [stem for stem in stems if stem not in STOP_STEMS] or stems
    counts = {stem: postings.count(stem) for stem in content}
    rarities = {stem: postings.rarity_of(count) for stem, count in counts.items()}
    terms = {stem: WeightedTerm(stem, rarities[stem]) for stem, count in counts.items() if count}
    for one in _variants(counts, rarities, postings, known):
        before = terms.get(one.term)
        if before is None or before.gain < one.gain:
            terms[one.term] = one
    if len(stems) > len(content):
        for stem in stems:
            if stem not in rarities and stem in postings and stem not in terms:
                terms[stem] = WeightedTerm(stem, _STOP * postings.rarity(stem), adds=False)
    return Terms(list(terms.values()), sum(rarities.values()))


def _variants(
    counts: dict[str, int], rarities: dict[str, float], postings: SeenPostings, known: KnownWords
) -> Iterator[WeightedTerm]:
    """Yield words that stand for others; a rarer one does not count for more than the other.

    For a word that many tools have, no others are looked for.
    """
    for stem, count in counts.items():
        if count < _MANY:
            for other in SYNONYMS.get(stem, ()):
                if other in postings:
                    gain = _SYNONYM * min(rarities[stem], postings.rarity(other))
                    yield WeightedTerm(other, gain)
    unknown = [stem for stem, count in counts.items() if not count]
    compared = Comparisons()
    for stem in islice(unknown, _MOST_MISSPELT):
        for meant in _meant(stem, postings, known, compared):
            yield WeightedTerm(meant, _MISSPELT * min(rarities[stem], postings.rarity(meant)))


def _meant(
    word: str, postings: SeenPostings, known: KnownWords, compared: Comparisons
) -> tuple[str, ...]:
    """Return the known words that a misspelt one may stand for.

    The mistake may be in an ending, which then was not taken off: `parkign` is `park`.
    """
    found = known.near(word, compared, postings.__contains__)
    for end in range(len(word) - 1, max(_BEGINNING, len(word) // 2) - 1, -1):
        if found:
            break
        begin = word[:end]
        if begin in postings:
            found = (begin,)
        elif end == len(word) - 1:  # with fewer letters left, too many words are alike
            found = known.near(begin, compared, postings.__contains__)
    return found
