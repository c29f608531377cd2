"""Large results of promises: in pieces, because stores bound what one record may hold.

A server of NATS takes messages of 1 MiB as it is installed. Pieces are stored before the promise
that refers to them, under a digest of the result, so that no other write changes them.
"""

from __future__ import annotations

__all__ = ("ResultPieces",)

from base64 import b64decode, b64encode
from hashlib import sha256

import anyio

from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.inputs import decoded, encoded
from kinwire.storage.records import Record, Records
from kinwire_protocols.base import JsonObject

_PIECE = 192 * 1024  # bytes of JSON: 256 KiB in a record
_KEPT_LONGER = 60.0  # seconds for which they stay after their promise


class ResultPieces:
    """Reads and writes results that are too large for one record."""

    def __init__(self, records: Records, *, whole: bool) -> None:
        """Use `records`, which hold a result of any size if it is `whole`."""
        self._records, self._whole = records, whole
        self._turn, self._readers = anyio.Lock(), 0
        self._read: tuple[list[str], bytes] = ([], b"")

    def of(self, name: str, result: JsonObject | None) -> dict[str, str]:
        """Return what to store for the result of the promise `name`, by keys; {} for a small one.

        Raises:
            StorageInputError: no store can hold it.
        """
        if result is None or self._whole:
            return {}
        text = encoded(result, name).encode()
        if len(text) <= _PIECE:
            return {}
        place = f"piece/{name}/{sha256(text).hexdigest()}/"
        starts = range(0, len(text), _PIECE)
        texts = (b64encode(text[start : start + _PIECE]).decode() for start in starts)
        return {f"{place}{number}": one for number, one in enumerate(texts)}

    async def write(self, pieces: dict[str, str], expires_in: float) -> None:
        """Store pieces for a promise that expires then.

        Raises:
            StorageError: the records cannot be written.
        """
        for key, text in pieces.items():
            await self._records.put(key, text, expires_in=expires_in + _KEPT_LONGER)

    async def joined(self, keys: list[str]) -> JsonObject:
        """Return the result whose pieces are stored under `keys`.

        Raises:
            StorageError: the records cannot be read, or a piece of the result is missing.
        """
        self._readers += 1
        try:
            async with self._turn:  # many that redeem together read it once, and in time
                if self._read[0] != keys:
                    self._read = keys, b"".join([await self._piece(key) for key in keys])
                text = self._read[1]
        finally:
            self._readers -= 1
            if not self._readers:
                self._read = [], b""
        result: JsonObject = decoded(text, "the result of a promise")
        return result

    async def _piece(self, key: str) -> bytes:
        record = await self._records.get(key)
        try:
            return b64decode(_text_in(record))
        except ValueError as error:
            raise StorageDamagedError.of_record(
                key, error, expected="a piece of a result", hint="Call the tool again."
            ) from None


def _text_in(record: Record | None) -> str:
    if record is None or not isinstance(record.value, str):
        raise ValueError("it is not there")
    return record.value
