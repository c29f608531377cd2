"""A compliance server, the example of MCPL 15.2: no secret is shown.

It has the hook after inference alone, and hosts wait for it (10.5): what they show is what it
returns. A host that shows nothing without it says so itself, `Hooks(fail_closed=["compliance.*"])`.
"""

from __future__ import annotations

__all__ = ("FEATURE_SETS", "redact", "server")

import re

from kinwire import Server
from kinwire.mcpl import McplServer
from kinwire_protocols.mcpl import AfterInferenceParams, AfterInferenceResult, FeatureSet

FEATURE_SETS = {
    "compliance.redaction": FeatureSet(
        description="Redact secrets and PII from responses", uses=["contextHooks.afterInference"]
    ),
}

# An address begins where no sign of one stands before: else long text costs its square.
_SECRET = re.compile(
    r"(?P<api_key>\bsk-\w{4,})|(?P<email>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
)

live = McplServer(feature_sets=FEATURE_SETS, blocking=True)
server = Server("redaction", "1.0", extensions=[live])


@live.on.context_after_inference
async def redact(params: AfterInferenceParams) -> AfterInferenceResult:
    """Black out secrets, and say of which kind they were and where they stood."""
    text = params.assistant_message
    found = [
        {"type": secret.lastgroup, "position": list(secret.span())}
        for secret in _SECRET.finditer(text)
    ]
    if not found:
        return AfterInferenceResult(feature_set="compliance.redaction")
    return AfterInferenceResult(
        feature_set="compliance.redaction",
        modified_response=_SECRET.sub("[REDACTED]", text),
        metadata={"redactions": found},
    )


if __name__ == "__main__":
    server.run()
