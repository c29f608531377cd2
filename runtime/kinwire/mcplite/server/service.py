"""A server of MCP-lite: what its tools answer, whatever the transport (MCP-lite 0.042 section 3).

`asgi` serves it over HTTP, `serve_grpc` over gRPC; both use `list_tools`, `call` and `stream`.
"""

from __future__ import annotations

__all__ = ("LiteServer",)

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from kinwire.managers.tool_outcomes import MoreResources, NeedsAnswers, Promised, ToolError
from kinwire.mcplite.rules.results import failure_body, finished
from kinwire.mcplite.server.source import (
    ANYONE,
    LiteCaller,
    LiteSource,
    Put,
    ToolCall,
    ToolRun,
    ToolServer,
)
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.error_table import internal_error
from kinwire.rpc.errors import RpcError
from kinwire.storage.records import Records
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.errors import ToolNotFoundError
from kinwire_protocols.mcplite.tools import REDEEM
from kinwire_protocols.nearest import nearest

if TYPE_CHECKING:
    from kinwire.mcplite.server.http.app import LiteHttpApp
    from kinwire.transports.grpc.limits import GrpcLimits
    from kinwire.transports.http.guard import Authenticate
    from kinwire.transports.http.limits import HttpLimits

_NAMED = 1000  # tools in the error about an unknown one


class LiteServer:
    """Serves the tools of an MCP `Server`, or of another source, over MCP-lite.

    - `records` store promises, so that any process with the same records can redeem them; without
      them they are in memory.
    - `may_call` takes the principal and the name of a tool, and says whether it may call the tool:
      one that it may not call does not exist for it.
    - `version` is what results name as the version of the server.
    """

    def __init__(
        self,
        server: ToolServer | LiteSource,
        *,
        records: Records | None = None,
        secret: str | None = None,
        version: str | None = None,
        may_call: Callable[[object, str], bool] | None = None,
    ) -> None:
        self.source = _source_of(server)
        self._version = self.source.version if version is None else version
        self._may_call = may_call
        self._listed: tuple[Sequence[JsonObject], EncodedObject] | None = None

    async def list_tools(self, caller: LiteCaller = ANYONE) -> EncodedObject:
        """Return `{"tools": [...]}`: the same object as before if nothing has changed.

        Raises:
            RpcError: the source cannot list its tools.
        """
        tools = await self.source.list_tools(caller)
        if self._may_call is not None:
            return EncodedObject({"tools": self._definitions(tools, caller)})
        if self._listed is None or self._listed[0] is not tools:
            self._listed = (tools, EncodedObject({"tools": self._definitions(tools, caller)}))
        return self._listed[1]

    async def call(self, call: ToolCall, caller: LiteCaller = ANYONE) -> JsonObject:
        """Return the result of a call, with its `_meta`.

        Raises:
            ToolNotFoundError: there is no such tool, for this caller.
            InvalidParamsError: the arguments break the schema.
            InternalError: the tool failed in a way that it did not foresee; the log says how.
        """
        return await self._answered(ToolRun(call, caller))

    async def stream(self, call: ToolCall, caller: LiteCaller, send: Put) -> JsonObject:
        """Do as `call`; parts of the result go to `send` before it returns.

        A part is `{"partial": "..."}`; of a redeemed promise it may have `progress` as well.
        """
        return await self._answered(ToolRun(call, caller, send))

    def asgi(  # noqa: PLR0913 - all that a listener is made of
        self,
        *,
        path: str = "/mcp-lite/v1/",
        health: str | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        authenticate: Authenticate | None = None,
        resource_metadata: str | None = None,
        insecure: bool = False,
        limits: HttpLimits | None = None,
    ) -> LiteHttpApp:
        """Return this server as an ASGI application, for uvicorn or to mount in another one.

        It serves the endpoints of section 4.2, `listtools` and `calltools`, with all their other
        names: below `path`, and without it, too. Every request is a POST of JSON and independent of
        all others. With `Accept: text/event-stream` the parts of a result come as events.

        `health`, such as "/healthz", is a path that answers every GET with 200. All other options
        are those of `Server.asgi`; `HttpLimits.sessions` bounds the calls in flight. Work whose
        client closes the connection is cancelled; that of promises goes on.

        Raises:
            ValueError: invalid host or origin in the lists, or a path without its slash.
            TypeError: a list is a string.
        """
        from kinwire.mcplite.server.http.app import app_of_service

        return app_of_service(
            self,
            path=path,
            health=health,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            authenticate=authenticate,
            resource_metadata=resource_metadata,
            insecure=insecure,
            limits=limits,
        )

    async def serve_grpc(  # noqa: PLR0913 - all that a listener is made of
        self,
        host: str = "127.0.0.1",
        port: int = 50051,
        *,
        authenticate: Authenticate | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
        insecure: bool = False,
        limits: GrpcLimits | None = None,
        started: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Serve over gRPC until this is cancelled (section 5). It needs the extra `grpc`.

        Calls under way then get `limits.drain` seconds to end. `authenticate` gets the bearer token
        in the metadata `authorization` of each call. With `certfile`, and `keyfile` if the key is
        in another file, clients need TLS. `insecure` is your word that plain text is right on the
        network. `started` gets the address once clients can connect, as "grpc://127.0.0.1:50051";
        `port` 0 takes a free one. Reflection is for everybody who can connect.

        Raises:
            ImportError: the extra is not installed.
            KinwireError: another loop than asyncio's runs.
            InsecureAddressError: other machines could reach it in plain text.
            OSError: nobody can listen there, or the certificate cannot be read.
            TypeError, ValueError: an option is of the wrong type.
        """
        from kinwire.mcplite.server import grpc_service

        options = (host, port, authenticate, certfile, keyfile, insecure, limits)
        await grpc_service.serve(self, grpc_service.GrpcOptions(*options), started)

    def run_grpc(
        self,
        host: str = "127.0.0.1",
        port: int = 50051,
        *,
        authenticate: Authenticate | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
        insecure: bool = False,
        limits: GrpcLimits | None = None,
    ) -> None:
        """Do as `serve_grpc` until SIGTERM, SIGHUP or Ctrl-C, and `close`: a program's last line.

        The address is said on stderr. A second signal ends the process immediately.

        Raises:
            ImportError, InsecureAddressError, OSError, TypeError, ValueError: see `serve_grpc`.
            SystemExit: the user pressed Ctrl-C.
        """
        from kinwire.mcplite.server import grpc_service

        options = (host, port, authenticate, certfile, keyfile, insecure, limits)
        grpc_service.run(self, grpc_service.GrpcOptions(*options))

    async def close(self, grace: float = 1.0) -> None:
        """End the work of promises that are open; what needs more than `grace` seconds has failed.

        Call it when the server ends. Redeeming goes on, in other processes.
        """

    async def _answered(self, run: ToolRun) -> JsonObject:
        started = time.perf_counter()
        body = await self._outcome(run)
        return finished(
            body,
            now=time.time(),
            took=time.perf_counter() - started,
            version=self._version,
            asked=run.call.meta,
        )

    async def _outcome(self, run: ToolRun) -> JsonObject:
        name = run.call.name
        if self._may_call is not None and not self._may_call(run.caller.principal, name):
            raise await self._not_found(name, run.caller)
        return await self._ran(run)

    async def _ran(self, run: ToolRun) -> JsonObject:
        try:
            value = await self.source.run(run)
            while isinstance(value, Promised):
                value = await value.work()
            return self._body(value, run)
        except ToolError as error:
            return failure_body(error)
        except KeyError as error:
            if error.args != (run.call.name,):
                raise internal_error(f"tool {run.call.name!r:.100}", error) from None
        except RpcError:
            raise
        except Exception as error:
            raise internal_error(f"tool {run.call.name!r:.100}", error) from None
        raise await self._not_found(run.call.name, run.caller)

    def _body(self, value: object, run: ToolRun) -> JsonObject:
        if isinstance(value, NeedsAnswers):
            from kinwire.mcplite.rules.results import elicitation_body

            return elicitation_body(value, "")
        if isinstance(value, MoreResources):
            return value.result
        return cast(JsonObject, value)

    def _definitions(self, tools: Sequence[JsonObject], caller: LiteCaller) -> list[JsonObject]:
        shown = [_definition(one) for one in tools if self._is_for(caller, one["name"])]
        return [REDEEM.definition, *shown] if self.source.may_promise else shown

    def _is_for(self, caller: LiteCaller, name: str) -> bool:
        return self._may_call is None or self._may_call(caller.principal, name)

    async def _not_found(self, name: str, caller: LiteCaller) -> ToolNotFoundError:
        listed = (await self.list_tools(caller))["tools"]
        names: list[str] = [one["name"] for one in listed]
        data: JsonObject = {"requested_tool": name[:200], "available_tools": names[:_NAMED]}
        near = nearest(name, names)
        if near is not None:
            data["suggestion"] = f"Did you mean {near!r}?"
        return ToolNotFoundError(data=data)


def _definition(tool: JsonObject) -> JsonObject:
    """Return the definition with the fields that section 3.9 wants."""
    return tool if "description" in tool else {**tool, "description": ""}


def _source_of(server: ToolServer | LiteSource) -> LiteSource:
    if isinstance(server, ToolServer):
        from kinwire.mcplite.server.mcp_tools import McpTools

        return McpTools(server)
    return server
