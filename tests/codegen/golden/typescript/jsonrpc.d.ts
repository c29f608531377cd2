// Types of JSON-RPC 2.0.
// Generated from jsonrpc.json by `kinwire generate`: do not edit.

/**
 * Any message: with `method` and `id` it is a request, with `method` alone a notification, without
 * `method` a response.
 */
export type Envelope = Request | Notification | ResultResponse | ErrorResponse;

/** What went wrong with a request. */
export type ErrorObject = {
  /**
   * A number that programs tell errors apart by; what it means is for the protocol of the method
   * to say.
   */
  code: number;
  /** One short sentence for people and logs. */
  message: string;
  /** Further facts about the error, of any shape that its sender likes. */
  data?: unknown;
};

/** The answer to a request that failed. */
export type ErrorResponse = {
  /** The version of JSON-RPC; no other is spoken. */
  jsonrpc: "2.0";
  /** The id of the request that failed; null if the frame was too broken to tell. */
  id: RequestId | null;
  /** What went wrong. */
  error: ErrorObject;
};

/** A message without an id: it is acted on and never answered, not even when it is wrong. */
export type Notification = {
  /** The version of JSON-RPC; no other is spoken. */
  jsonrpc: "2.0";
  /** What it is about. */
  method: string;
  /** The method's params; absent means an empty object. */
  params?: { [key: string]: unknown };
};

/** A message that asks for one response with the same id. */
export type Request = {
  /** The version of JSON-RPC; no other is spoken. */
  jsonrpc: "2.0";
  /** Names the request until it is answered. */
  id: RequestId;
  /** What is asked for. */
  method: string;
  /** The method's params; absent means an empty object. */
  params?: { [key: string]: unknown };
};

/**
 * Identifies a request of one sender for the length of a session; the response repeats it
 * unchanged.
 */
export type RequestId = string | number;

/** The answer to a request that went well. */
export type ResultResponse = {
  /** The version of JSON-RPC; no other is spoken. */
  jsonrpc: "2.0";
  /** The id of the request that is answered. */
  id: RequestId;
  /** The method's result. */
  result: { [key: string]: unknown };
};
