"""A listener for gRPC: from the bind to the last answer."""

from __future__ import annotations

__all__ = ("GrpcListener",)

import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2

from kinwire.support.settling import settle
from kinwire.transports.grpc.limits import GrpcLimits
from kinwire.transports.http.security import must_be_secure

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool


_REFUSED = 1000
"""Calls beyond `GrpcLimits.in_flight` that wait for their message, or to be refused, or reflect.

The library refuses those beyond them before it has read their message, and then some clients see
CANCELLED instead of its status. The handlers refuse calls beyond `in_flight`.
"""


_PONG = 20.0  # seconds that a client has to answer a ping


class GrpcListener(NamedTuple):
    """Where a service is served, and how.

    With `certfile`, and `keyfile` if the key is in another file, clients need TLS. `insecure` is
    the user's word that plain text is right on a network. `pool` is asked by clients that look at
    the service, which needs no token.
    """

    handlers: Any
    service: str
    pool: DescriptorPool
    certfile: str | None
    keyfile: str | None
    insecure: bool
    limits: GrpcLimits

    async def serve(self, host: str, port: int, started: Callable[[str], object]) -> None:
        """Serve until this is cancelled; calls under way get `limits.drain` seconds to end.

        `started` gets the address as a URL once clients can connect.

        Raises:
            InsecureAddressError: other machines could reach it in plain text.
            OSError: nobody can listen there, or the certificate cannot be read.
        """
        must_be_secure(host, tls=bool(self.certfile), insecure=self.insecure, doing="listen on")
        most = self.limits.in_flight + _REFUSED
        server = grpc.aio.server(options=_options(self.limits), maximum_concurrent_rpcs=most)
        server.add_generic_rpc_handlers([self.handlers])
        self._reflect(server)
        bound = self._bind(server, f"[{host}]" if ":" in host else host, port)
        settle()
        await server.start()
        try:
            started(f"{'grpcs' if self.certfile else 'grpc'}://{bound}")
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await server.stop(self.limits.drain)

    def _bind(self, server: grpc.aio.Server, host: str, port: int) -> str:
        where = f"{host}:{port}"
        try:
            if self.certfile is None:
                port = server.add_insecure_port(where)
            else:
                port = server.add_secure_port(where, _credentials(self.certfile, self.keyfile))
        except RuntimeError:
            raise OSError(f"Nobody can listen on {where}: is another program there?") from None
        return f"{host}:{port}"

    def _reflect(self, server: grpc.aio.Server) -> None:
        """Describe the service to those who ask.

        `enable_server_reflection` would register the method with the server. Then grpc.aio
        waits for two kinds of calls, which each call of any method pays for.
        """
        self.pool.AddSerializedFile(reflection_pb2.DESCRIPTOR.serialized_pb)
        names = (self.service, reflection.SERVICE_NAME)
        reflect: Any = reflection.aio.ReflectionServicer(names, pool=self.pool)
        handler = grpc.stream_stream_rpc_method_handler(
            reflect.ServerReflectionInfo,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
        methods = {"ServerReflectionInfo": handler}
        handlers = grpc.method_handlers_generic_handler(reflection.SERVICE_NAME, methods)
        server.add_generic_rpc_handlers([handlers])


def _options(limits: GrpcLimits) -> Sequence[tuple[str, int]]:
    return (
        ("grpc.max_receive_message_length", limits.message_size),
        ("grpc.max_send_message_length", limits.message_size),
        ("grpc.so_reuseport", 0),  # two servers on one port would take turns
        # A client whose machine is gone says nothing more: its calls would last for two hours.
        ("grpc.keepalive_time_ms", int(limits.keepalive * 1000)),
        ("grpc.http2.ping_timeout_ms", int(min(limits.keepalive, _PONG) * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
    )


def _credentials(certfile: str, keyfile: str | None) -> grpc.ServerCredentials:
    key = Path(keyfile or certfile)
    pair = key.read_bytes(), Path(certfile).read_bytes()
    # The library would say nothing of a certificate that it cannot use.
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certfile, key)
    return grpc.ssl_server_credentials([pair])
