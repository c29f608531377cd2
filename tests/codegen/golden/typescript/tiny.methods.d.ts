// Methods and errors of Tiny 2.1-draft.
// Generated from tiny.json by `kinwire generate`: do not edit.
// x-shelf: {"wood": "oak"}

import type * as tinyTypes from "./tiny.js";
import type * as tinybaseTypes from "./tiny-base.js";

/** The methods by their names. */
export type Methods = {
  /**
   * Find books. The shelf may return fewer than it has. Section: 2.1.
   * x-shelf: true
   * @since 1.0
   */
  "books/find": {
    kind: "request";
    from: "client";
    params: tinyTypes.FindParams;
    result: tinyTypes.FindResult;
    errors: "NoSuchBook" | "tiny-base#Locked";
    partialResult: tinyTypes.FindResult;
    registrationOptions: tinyTypes.Bag;
    registrationMethod: "books/finder";
  };
  /** Tell that a book was lent. Section: 2.2. */
  "books/lent": {
    kind: "notification";
    from: "server";
    params: tinyTypes.LentParams;
    result: void;
    errors: never;
  };
  /**
   * Announce a book, with or without an answer. Section: 2.3.
   * @deprecated since 2.0: Nobody listens. Use `books/lent`.
   */
  "books/announce": {
    kind: "either";
    from: "both";
    params: tinyTypes.LentParams;
    result: tinybaseTypes.OpenResult;
    errors: never;
  };
  /** Rate a book, by position. Section: 2.4. */
  "books/rate": {
    kind: "request";
    from: "client";
    params: [id: string, stars?: number];
    result: tinyTypes.Rates;
    errors: never;
  };
  /** Count the books. Section: 2.5. */
  "books/count": {
    kind: "request";
    from: "client";
    params: undefined;
    result: tinyTypes.Count;
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

/** The tools by their names. */
export type Tools = {
  /** Dust the shelf. Not on Sundays. Section: 4.1. */
  "dust": {
    arguments: tinyTypes.DustParams;
    result: tinyTypes.DustResult;
    errors: "NoSuchBook" | "tiny-base#Locked";
  };
  /**
   * Find books by a tool. Section: 4.2.
   * @deprecated
   */
  "books/find": {
    arguments: tinyTypes.DustParams;
    result: tinybaseTypes.CallResult;
    errors: never;
  };
  /** Rebind a book. Section: 8. */
  "rebind": {
    arguments: tinyTypes.DustParams;
    result: tinyTypes.DustResult;
    errors: never;
  };
};

/** Fields that are added to messages of other protocols. */
export type Augments = {
  "tiny-base#Named": {
    /** Where that was born. */
    "born-in"?: tinyTypes.Place;
  };
  "shelf/open params": {
    /** The lamp to open it with. */
    lamp?: tinyTypes.Lamp;
  };
  "every params": {
    /** Whatever a reader notes; null too. */
    _tiny?: tinyTypes.Note;
  };
  "every result": {
    /** Whatever the shelf notes; null too. */
    _tiny?: tinyTypes.Note;
  };
  "every error": {
    /** The lamp that would have helped. */
    _tiny?: tinyTypes.Lamp;
  };
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

/** The types of the data of errors. */
export type ErrorData = {
  NoSuchBook: tinyTypes.Author;
};

/** The errors by their names. */
export declare const errors: {
  /** The shelf does not hold it. */
  readonly NoSuchBook: { readonly code: 8; readonly message: "No such book" };
  /** Nobody can read here. */
  readonly Dusty: { readonly code: 9; readonly message: "Too dusty" };
  /**
   * The book cannot be lent any more.
   * x-shelf: null
   * @deprecated Use `NoSuchBook`.
   */
  readonly Worn: { readonly code: 4004; readonly message: "The book is worn" };
};

/** The names of integers. */
export declare const enums: {
  readonly Binding: {
    /** Glued. */
    readonly PaperBack: 1;
    /**
     * x-shelf: "top"
     * @since 1.1
     */
    readonly HardBack: 2;
    /** @deprecated since 2.0. */
    readonly None: -1;
  };
};
