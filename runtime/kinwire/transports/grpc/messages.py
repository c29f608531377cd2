"""Classes of messages, made of a descriptor when they are first used."""

from __future__ import annotations

__all__ = ("MessageClasses",)

from typing import TYPE_CHECKING

from google.protobuf import descriptor_pb2, struct_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

if TYPE_CHECKING:
    from google.protobuf.message import Message


class MessageClasses:
    """The messages of one file, in a pool of their own.

    Programs may have classes that a compiler made of the same file: in the pool that they share
    with the process, two files of one name would be an error.
    """

    def __init__(self, file: bytes) -> None:
        """Take a serialized FileDescriptorProto; it may import `google/protobuf/struct.proto`."""
        self.pool = DescriptorPool()
        self.pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
        self.pool.AddSerializedFile(file)
        self._package = descriptor_pb2.FileDescriptorProto.FromString(file).package

    def of(self, name: str) -> type[Message]:
        """Return the class of the message `name` of the file.

        Raises:
            KeyError: the file has no such message.
        """
        return GetMessageClass(self.pool.FindMessageTypeByName(f"{self._package}.{name}"))
