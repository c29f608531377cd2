// Types of Tiny Base 1.
// Generated from tiny-base.json by `kinwire generate`: do not edit.

/** A tool and what it is given. */
export type CallParams = {
  /** The tool. */
  name: string;
  /** What it is given. */
  arguments?: { [key: string]: unknown };
};

/** What a tool returns. */
export type CallResult = {
  /** Blocks. */
  content: { [key: string]: unknown }[];
  /** Whether it failed. */
  isError?: boolean;
};

/** Anything with a name. */
export type Named = {
  /**
   * What it is called.
   * Constraints: minLength 1.
   */
  name: string;
};

/** How to open. */
export type OpenParams = {
  /** Who opens. */
  who?: Named;
};

/** The open shelf. */
export type OpenResult = {
  /**
   * How many books it holds.
   * Constraints: minimum 0.
   */
  books: number;
};
