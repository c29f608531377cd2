// Constants of Tiny Base 1.
// Generated from tiny-base.json by `kinwire generate`: do not edit.

export const methods = {
  "shelf/open": {
    "kind": "request",
    "from": "client",
    "gate": "server:shelf.open"
  },
  "shelf/unlock": {
    "kind": "request",
    "from": "client",
    "gate": "server:shelf.open",
    "aliasOf": "shelf/open"
  },
  "tools/call": {
    "kind": "request",
    "from": "client"
  }
};

export const errors = {
  "Locked": {
    "code": 7,
    "message": "The shelf is locked"
  }
};
