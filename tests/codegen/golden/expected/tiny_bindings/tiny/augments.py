# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""What Tiny adds to messages of others. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic_core import MISSING

from tiny_bindings import augment, lazy
from tiny_bindings.tiny import errors

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import Lamp, Note, Place
    from tiny_bindings.tinybase.models import Named, OpenParams

NAMED_BORN_IN: Final[augment.Augment[Named, Place | None]] = augment.Augment(
    protocol="tiny",
    to="tiny-base#Named",
    member="born-in",
    type=lazy.Lazy("tiny_bindings.tiny.models.Place"),
    message=lazy.Lazy("tiny_bindings.tinybase.models.Named"),
    sender="both",
    section="5.1",
)
"""Where that was born."""

SHELF_OPEN_PARAMS_LAMP: Final[augment.Augment[OpenParams, Lamp | None]] = augment.Augment(
    protocol="tiny",
    to="shelf/open params",
    member="lamp",
    type=lazy.Lazy("tiny_bindings.tiny.models.Lamp"),
    message=lazy.Lazy("tiny_bindings.tinybase.models.OpenParams"),
    sender="client",
    errors=(errors.NoSuchBookError,),
    section="5.2",
)
"""The lamp to open it with."""

EVERY_PARAMS_TINY: Final[augment.EveryAugment[Note | MISSING]] = augment.EveryAugment(
    protocol="tiny",
    to="every params",
    member="_tiny",
    type=lazy.Lazy("tiny_bindings.tiny.models.Note"),
    nullable=True,
    sender="client",
    section="5.3",
)
"""Whatever a reader notes; null too."""

EVERY_RESULT_TINY: Final[augment.EveryAugment[Note | MISSING]] = augment.EveryAugment(
    protocol="tiny",
    to="every result",
    member="_tiny",
    type=lazy.Lazy("tiny_bindings.tiny.models.Note"),
    nullable=True,
    sender="server",
    section="5.3",
)
"""Whatever the shelf notes; null too."""

EVERY_ERROR_TINY: Final[augment.ErrorAugment[Lamp | None]] = augment.ErrorAugment(
    protocol="tiny",
    to="every error",
    member="_tiny",
    type=lazy.Lazy("tiny_bindings.tiny.models.Lamp"),
    sender="server",
    errors=(errors.DustyError,),
    section="5.4",
)
"""The lamp that would have helped."""

AUGMENTS: Final[tuple[augment.AnyAugment, ...]] = (
    NAMED_BORN_IN,
    SHELF_OPEN_PARAMS_LAMP,
    EVERY_PARAMS_TINY,
    EVERY_RESULT_TINY,
    EVERY_ERROR_TINY,
)
"""All of them, in the order of the document."""
