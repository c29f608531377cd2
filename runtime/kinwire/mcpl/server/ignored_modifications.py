"""Changes of responses that no host waits for, as the server does not ask for that (MCPL 10.5).

Such a hook comes as a notification and has no answer. What it changes is told in the log.
"""

from __future__ import annotations

__all__ = ("IgnoredModifications",)

import logging
from typing import Any

from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire_protocols.mcpl.models import AfterInferenceParams, AfterInferenceResult

logger = logging.getLogger("kinwire.mcpl")


class IgnoredModifications:
    """The feature sets of one server that change responses without anybody waiting."""

    def __init__(self) -> None:
        self._told: set[str | None] = set()

    def watched(self, route: Route) -> Route:
        """Return the route of the hook after inference with an eye on what it answers."""

        async def serve(params: AfterInferenceParams, request: Request) -> Any:
            answer = await route.handler(params, request)
            if request.id is None and isinstance(answer, AfterInferenceResult):
                self._tell(answer)
            return answer

        return route._replace(handler=serve)

    def _tell(self, answer: AfterInferenceResult) -> None:
        name = answer.feature_set
        if answer.modified_response is None or name in self._told:
            return
        self._told.add(name)
        logger.warning(
            "context/afterInference: %r changes the response, and no host waits for that: it is "
            "not changed. Write McplServer(blocking=True).",
            name,
        )
