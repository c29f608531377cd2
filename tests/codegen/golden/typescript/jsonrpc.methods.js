// Constants of JSON-RPC 2.0.
// Generated from jsonrpc.json by `kinwire generate`: do not edit.

export const errors = {
  "ParseError": {
    "code": -32700,
    "message": "Parse error"
  },
  "InvalidRequest": {
    "code": -32600,
    "message": "Invalid Request"
  },
  "MethodNotFound": {
    "code": -32601,
    "message": "Method not found"
  },
  "InvalidParams": {
    "code": -32602,
    "message": "Invalid params"
  },
  "InternalError": {
    "code": -32603,
    "message": "Internal error"
  }
};
