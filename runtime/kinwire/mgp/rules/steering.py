"""Signs of texts that are written to steer a model."""

from __future__ import annotations

__all__ = ("STEERING",)

from typing import Final

from kinwire.mgp.rules.sign_table import Part, Sign, SignTable, part, stems, words

_READ = words(
    "read|open|cat|get|fetch|load|collect|gather|retrieve|extract|copy|dump|list|find|look up"
)
_GIVE = stems(
    "pass|send|includ|put|provid|append|attach|add|forward|post|upload|submit|leak|exfiltrat|"
    "email|mail|bcc|cc|encod|embed|insert|transmit|return|write|store|copy"
)
_PRIVATE = part(
    r"(\bssh\b.{0,12}\b(key|rsa|folder|config)|\bid_?(rsa|dsa|ecdsa|ed25519)\b|id rsa|"
    r"\.ssh\b|\.aws\b|\.gnupg\b|\.netrc\b|\.npmrc\b|\.kube\b|\.env\b|\.git-credentials|"
    r"/etc/(passwd|shadow|hosts)|\bmcp\.json\b|claude_desktop_config|\bkeychain\b|\bwallet\.dat\b|"
    r"private keys?\b|\bcredentials?\b|\bpasswords?\b|\bsecrets?\b|\bapi[ _-]?keys?\b|"
    r"\b(access|auth|session|bearer|api)[ _-]?tokens?\b|\bsession cookies?\b|\bseed phrases?\b|"
    r"\benvironment variables?\b|"
    r"\b(chat|conversation|message|browsing|whatsapp|email) (history|log)s?\b|"
    r"(entire|whole|full|complete|previous|prior|all) (conversation|chat|context|messages?)\b|"
    r"\bsystem prompt\b)",
    "ssh|rsa|dsa|ed25519|.aws|.gnupg|.netrc|.npmrc|.kube|.env|credential|/etc/|mcp.json|"
    "claude_desktop_config|keychain|wallet.dat|private key|password|secret|api key|api_key|"
    "api-key|apikey|token|session cookie|seed phrase|environment variable| history| log|"
    " conversation| chat| context| message|system prompt",
)
_PERSONAL = part(
    r"\b(chat transcripts?|transcripts?|everything the user|what the user (said|wrote)|"
    r"(all|any|every) (the )?(user'?s )?(e-?mails?|messages?|files?|file contents?)|"
    r"(user'?s?|their|your) (e-?mail address|phone number|home address|location|name and)|"
    r"home directory|personal (data|information|details)|hidden prompt|file contents?)\b",
    "transcript|everything the user|what the user |mail|message|file|phone number|home address|"
    " location| name and|home directory|personal |hidden prompt",
)
_MODEL = r"(ai|ai (assistant|agent|model)s?|assistants?|agents?|llms?|language models?|models?)"
_WHO = r"(the |any )?(user|human|operator|person|people|anyone|them|customer|developer)\b"
_DEMAND = words(
    "must|should|always|have to|need to|shall|ensure|instead|first|please|make sure|be sure"
)


_PRIVATE_DATA = "asks for private data"
_HIDES = "asks to hide something from people"
_STEERS = "steers the use of other tools"
_COMMAND = "runs a command if it reaches a shell"
_ADDRESS = "leads to an address that data can be sent to"
_SPEAKS = "speaks to the model"
_TRUST = "asks to trust what it returns"
STEERING: Final = SignTable(
    (
        Sign(
            "asks to ignore other instructions",
            stems("ignor|disregard|forget|overrid|bypass|supersed|replac"),
            (
                40,
                words(
                    "all|any|every|everything|previous|prior|earlier|above|other|existing|former|"
                    "original|your|system|safety|security|preceding"
                ),
            ),
            (
                40,
                stems(
                    "instruction|rule|prompt|direction|guideline|polic|command|restriction|message|"
                    "warning|constraint"
                ),
            ),
        ),
        Sign(
            _HIDES,
            words("do not|don't|dont|never|must not|should not|avoid|without|refrain from"),
            (
                30,
                stems(
                    "tell|mention|inform|reveal|notif|show|alert|warn|disclos|ask|report|explain|"
                    "display|say|let"
                ),
            ),
            (40, Part(_WHO)),
        ),
        Sign(
            _HIDES,
            words("keep|hide|hidden|conceal|secretly|silently|quietly|discreetly"),
            (50, Part(rf"\b(from {_WHO}|secret\b|confidential\b|in the background\b)")),
        ),
        Sign(_PRIVATE_DATA, _READ, (80, _PRIVATE), (120, _GIVE), rare=1),
        Sign(_PRIVATE_DATA, _DEMAND, (80, _READ | _GIVE), (60, _PRIVATE), rare=2),
        Sign(
            _PRIVATE_DATA,
            _GIVE,
            (60, _PRIVATE),
            (
                40,
                Part(
                    r"\b(to|as|into|in|with) (https?:|\S{1,80}@|(this|the|a|an|each|every) "
                    r"(param|argument|field|note|quer|request|server|call|address|url|context|tool))"
                ),
            ),
            rare=1,
        ),
        Sign(
            "names private files",
            part(
                r"(~|\$home|/home/\w{1,40}|/root|%userprofile%)[\\/]\.\w|\.ssh/|"
                r"\bid_(rsa|dsa|ecdsa|ed25519)\b|\bid rsa\b|\.aws/credentials|/etc/(passwd|shadow)|"
                r"\.cursor/|\bmcp\.json\b|claude_desktop_config",
                "~|$home|/home/|/root|%userprofile%|.ssh/|rsa|dsa|id_ed25519|.aws/|/etc/|.cursor/|"
                "mcp.json|claude_desktop_config",
            ),
        ),
        Sign(
            _STEERS,
            words("when|whenever|if|before|after|once|every time|as soon as|while"),
            (
                60,
                part(
                    r"\b(is available|are available|is present|is called|is used|is invoked|"
                    r"calling|using|invoking|any (other )?tools?|other tools?|another tool|"
                    r"send_\w{1,60}|\w{1,60}_(mail|email|message))\b",
                    "available|is present|is called|is used|is invoked|calling|using|invoking|"
                    "any tool|other tool|send_|_mail|_email|_message",
                ),
            ),
            (80, _DEMAND),
            (
                60,
                stems(
                    "chang|replac|modif|redirect|alter|rewrit|substitut|bcc|cc|recipient|address|"
                    "amount|destination|set its|forward|also send|copy"
                ),
            ),
            rare=1,
        ),
        Sign(
            "speaks to the model as the system",
            part(
                r"<\s{0,5}/?\s{0,5}(important|system|instructions?|secret|hidden|admin|assistant|"
                r"prompt|critical|mandatory|override|sys|inst|tool_call|function_calls?|thinking)\b"
                r"[^<>]{0,40}>|"
                r"\[\s{0,5}/?\s{0,5}(inst|system|sys)\s{0,5}\]|<\|[\w ]{1,30}\|>|"
                r"<<\s{0,5}sys\s{0,5}>>|#{1,4}\s{0,5}(system|assistant)\b[\w ]{0,20}:|"
                r"\b(system|assistant) (prompt|message|note|override)\s{0,5}:|"
                r"\b(system|admin|developer) (override|mode|notice)\b|\byou are now\b|"
                r"\bnew instructions?\b|\bjailbreak\b|<!--",
                "<|[|#|system |assistant |admin |developer |you are now|new instruction|jailbreak",
            ),
        ),
        Sign(
            _COMMAND,
            part(
                r"\$\([^)]{1,200}\)|`\s{0,5}(cat|curl|wget|rm|bash|sh|nc)\s[^`]|"
                r"(;|&&)\s{0,5}(cat|curl|wget|rm|bash|sh|nc|sudo|chmod|eval)\b|"
                r"\brm\s{1,5}-rf?\b|\bjavascript:|\bon(error|load|click)\s{0,5}=",
                "$(|`|;|&&|-r|javascript:|onerror|onload|onclick",
            ),
        ),
        Sign(
            _COMMAND,
            Part(r"\|\s{0,5}(cat|curl|wget|rm|bash|sh|nc|sudo|chmod|eval)\b", ("|",)),
        ),
        Sign(_COMMAND, part(r"<\s{0,5}script\b", "<"), (200, Part("</"))),
        Sign(_COMMAND, words("curl|wget"), (100, Part(r"\|\s{0,5}(ba)?sh\b"))),
        Sign(
            _ADDRESS,
            part(
                r"!\[[^\]]{0,200}\]\(\s{0,5}(https?:|//|data:)|<\s{0,5}(img|iframe|link|object|embed)\b|"
                r"[?&]\w{1,40}=(\{|\$|<|%7b|secret|data|token|key|pass)",
                "![|<|={|=$|=%7b|=secret|=data|=token|=key|=pass",
            ),
        ),
        Sign(
            _ADDRESS,
            stems("send|post|upload|forward|report|exfiltrat"),
            (80, words("to|at")),
            (20, Part(r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w")),
        ),
        Sign(
            _SPEAKS,
            part(
                rf"\b(as an? {_MODEL}|note to (the |all )?{_MODEL}|the {_MODEL}|"
                r"you are required)\b",
                " ai| assistant| agent| llm| language model| model|you are required",
            ),
            (60, _GIVE | words("call|run|execute|delete|reveal|obey|trust|approve|grant|ignore")),
            (60, _PRIVATE | _PERSONAL | stems("delete|destroy|pay|transfer|grant|obey|wipe")),
        ),
        Sign(_PRIVATE_DATA, stems("leak|steal|harvest"), (40, _PRIVATE | _PERSONAL)),
        Sign(_SPEAKS, part(r"\b(pretend|act as if|exfiltrat\w*)\b", "pretend|act as if|exfiltrat")),
        Sign(
            "asks to ignore people",
            stems("ignor|disregard|override|bypass"),
            (
                15,
                Part(
                    r"\b(what|anything|whatever|everything) the user|"
                    r"\buser'?s? (request|instruction|wish|intent)"
                ),
            ),
        ),
        Sign(
            _TRUST,
            words("treat|follow|obey|execute|run|trust"),
            (40, Part(r"\b(instruction|command|step)s?\b")),
            (
                40,
                Part(
                    r"\b(returned by|(this|the) tool (returns|gives|says|outputs)|from this tool)\b"
                ),
            ),
        ),
        Sign(
            _TRUST,
            stems("treat"),
            (60, words("as|like")),
            (20, Part(r"\b(trusted|command|instruction|authoritative)s?\b")),
        ),
        Sign(
            _PRIVATE_DATA,
            _GIVE | words("call|use|invoke"),
            (60, _PERSONAL),
            (
                60,
                Part(
                    r"\b(in |with |on )?(every|each) (call|request|response|time)\b|\bmetadata\b|"
                    r"\b(to|into|in|as|with) "
                    r"(this|it|the (param|argument|field|note|request|tool|context))\b"
                ),
            ),
            rare=1,
        ),
        Sign(
            _PRIVATE_DATA,
            part(
                r"\b(in|with|on|before|after) (every|each|any) "
                r"(call|request|response|reply|answer)\b|\b(set|fill)\b.{0,40}\b(field|parameter|argument)\b",
                " every | each | any |field|parameter|argument",
            ),
            (60, _PERSONAL),
        ),
        Sign(
            _PRIVATE_DATA,
            _READ,
            (
                60,
                part(
                    r"\b(home directory|transcripts?|file contents?|all files|every file)\b",
                    "home directory|transcript|file content|all files|every file",
                ),
            ),
            (
                60,
                Part(
                    r"\b(pass|send|forward|append|attach|upload) "
                    r"(it|them|that|this|these|everything)\b"
                ),
            ),
            rare=1,
        ),
        Sign(
            _STEERS,
            Part(r"\b(other|another|all|any) tools? (is|are)\b"),
            (20, words("deprecated|broken|disabled|unsafe|forbidden|not allowed|insecure")),
            rare=1,
        ),
        Sign(
            _STEERS,
            words("when|whenever|if|every time"),
            (10, Part(r"\b(the )?(user|customer|human)\b")),
            (20, stems("ask|mention|say|request|want|talk")),
            (60, stems("replac|redirect|bcc|substitut|alter|transfer|wire|divert")),
            rare=3,
        ),
    )
)
