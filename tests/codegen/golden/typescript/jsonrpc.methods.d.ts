// Methods and errors of JSON-RPC 2.0.
// Generated from jsonrpc.json by `kinwire generate`: do not edit.

/** The errors by their names. */
export declare const errors: {
  /** The frame is not JSON. */
  readonly ParseError: { readonly code: -32700; readonly message: "Parse error" };
  /** The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed. */
  readonly InvalidRequest: { readonly code: -32600; readonly message: "Invalid Request" };
  /** The receiver does not serve that method, or the capability for it was not negotiated. */
  readonly MethodNotFound: { readonly code: -32601; readonly message: "Method not found" };
  /** The params do not fit the method's type, or name something that the receiver does not have. */
  readonly InvalidParams: { readonly code: -32602; readonly message: "Invalid params" };
  /** The receiver failed while it worked on the request; the request itself is not to blame. */
  readonly InternalError: { readonly code: -32603; readonly message: "Internal error" };
};
