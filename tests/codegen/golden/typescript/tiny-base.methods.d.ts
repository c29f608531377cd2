// Methods and errors of Tiny Base 1.
// Generated from tiny-base.json by `kinwire generate`: do not edit.

import type * as tinybaseTypes from "./tiny-base.js";

/** The methods by their names. */
export type Methods = {
  /** Open the shelf. Section: 1. */
  "shelf/open": {
    kind: "request";
    from: "client";
    params: tinybaseTypes.OpenParams;
    result: tinybaseTypes.OpenResult;
    errors: "Locked" | "jsonrpc#InvalidParams";
  };
  /** Open the shelf. Section: 1. */
  "shelf/unlock": {
    kind: "request";
    from: "client";
    params: tinybaseTypes.OpenParams;
    result: tinybaseTypes.OpenResult;
    errors: "Locked" | "jsonrpc#InvalidParams";
  };
  /** Call a tool. Section: 2. */
  "tools/call": {
    kind: "request";
    from: "client";
    params: tinybaseTypes.CallParams;
    result: tinybaseTypes.CallResult;
    errors: never;
  };
};

export type MethodName = keyof Methods;
export type ParamsOf<M extends MethodName> = Methods[M]["params"];
/** What the receiver answers; `void` for a notification. */
export type ResultOf<M extends MethodName> = Methods[M]["result"];
/** The methods that one end sends. */
export type SentBy<End extends "client" | "server"> = {
  [M in MethodName]: Methods[M]["from"] extends End | "both" ? M : never;
}[MethodName];
/** The methods that one end receives. */
export type ReceivedBy<End extends "client" | "server"> = SentBy<
  End extends "client" ? "server" : "client"
>;
/** A function for each method that one end receives. */
export type Handlers<End extends "client" | "server"> = {
  [M in ReceivedBy<End>]: (params: ParamsOf<M>) => ResultOf<M> | Promise<ResultOf<M>>;
};
/** The params of a message: optional if all their fields are, absent if the method takes none. */
export type WithParams<P> = [P] extends [undefined]
  ? { params?: undefined }
  : {} extends P
    ? { params?: P }
    : { params: P };
/** A request as it is on the wire. */
export type RequestOf<M extends MethodName> = {
  [K in M]: Methods[K]["kind"] extends "request" | "either"
    ? { jsonrpc: "2.0"; id: string | number; method: K } & WithParams<ParamsOf<K>>
    : never;
}[M];
/** A notification as it is on the wire. */
export type NotificationOf<M extends MethodName> = {
  [K in M]: Methods[K]["kind"] extends "notification" | "either"
    ? { jsonrpc: "2.0"; method: K; id?: never } & WithParams<ParamsOf<K>>
    : never;
}[M];
/** A response without an error as it is on the wire. */
export type ResponseOf<M extends MethodName> = {
  jsonrpc: "2.0";
  id: string | number;
  result: ResultOf<M>;
};

/** What a program needs to know of a method when it runs. */
export declare const methods: {
  readonly [M in MethodName]: {
    readonly kind: Methods[M]["kind"];
    readonly from: Methods[M]["from"];
    /** The capability that must be negotiated. */
    readonly gate?: string;
    /** The first name of the method, if this is another one. */
    readonly aliasOf?: MethodName;
  };
};

/** The errors by their names. */
export declare const errors: {
  /** Nobody may open it now. */
  readonly Locked: { readonly code: 7; readonly message: "The shelf is locked" };
};
