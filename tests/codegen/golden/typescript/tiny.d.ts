// Types of Tiny 2.1-draft.
// Generated from tiny.json by `kinwire generate`: do not edit.
// x-shelf: {"wood": "oak"}

/** A book and its stars. */
export type Rating = {
  /** Which book. */
  id: string;
  /**
   * How many.
   * Constraints: minimum 1, maximum 5.
   * @defaultValue `3`
   */
  stars?: number;
};

/** What others gave, null if nobody did. */
export type Rates = number[] | null;

/**
 * How many.
 * Constraints: minimum 0.
 */
export type Count = number;

/** Who wrote it; a named thing with more to it. */
export type Author = {
  /**
   * What it is called.
   * Constraints: minLength 1.
   */
  name: string;
  /** The year; null if nobody knows. */
  born: number | null;
};

/** A printed book. */
export type Book = {
  /** The tag. */
  type: "book";
  /** What stands on the cover. */
  title: string;
  /** Who wrote it. */
  author?: Author;
  /** What it is made of. */
  parts?: Item[];
};

/** Where to dust. */
export type DustParams = {
  /** Which one; absent for all. */
  shelf?: string;
  /** What to dust with. */
  tools?: Lamp[];
};

/** What came of it. */
export type DustResult = {
  /** Whether it is clean now. */
  clean: boolean;
  /** What stood in the way. */
  moved?: Stack;
};

/** What to look for. */
export type FindParams = {
  /**
   * A word of Python.
   * Constraints: pattern "^[a-z]+$".
   */
  class?: string;
  /** A dash. */
  "sort-by"?: "title" | "year";
  /** The same name in Python. */
  sort_by?: 1 | 2;
  /**
   * A parameter of every method.
   * @defaultValue `false`
   */
  self?: boolean;
  /** A constant that may be absent. */
  exact?: true;
  /**
   * A number.
   * Constraints: maximum 9.5, exclusiveMinimum 0.
   */
  price?: number;
  /** Null is not absent. */
  shelf?: string | null;
  /**
   * Any JSON.
   * x-shelf: [1]
   * @since 1.1
   * @deprecated Nobody reads it.
   */
  hint?: unknown;
  /** How it is bound. */
  binding?: Binding;
  /** A map. */
  labels?: { [key: string]: string };
  /** An open object. */
  open?: { [key: string]: unknown };
  /** An underscore. */
  _meta?: Bag;
};

/** Anything at all. */
export type Bag = { [key: string]: unknown };

/** What was found. */
export type FindResult = {
  /**
   * The finds.
   * Constraints: minItems 0, maxItems 100.
   */
  items: Item[];
  /** How the shelf is. */
  state?: OpenState;
};

/** Something on the shelf. */
export type Item = Book | Tape;

/**
 * Something that shines.
 * @deprecated Shelves have light.
 */
export type Lamp = {
  /** What it is called. */
  name: string;
  /** How brightly it shines. */
  watts?: number;
};

/** The book and the day. */
export type LentParams = {
  /** Which book. */
  id: string | number;
  /**
   * Stays text.
   * Constraints: format "date-time".
   */
  date: string;
};

/** Any JSON, null too. */
export type Note = unknown;

/** What a shelf offers. */
export type Offer = {
  /** Whether it may be dusted. */
  dusting?: boolean;
};

/** A state, and room for more. */
export type OpenState = State | (string & {});

/**
 * A place by its name.
 * Constraints: minLength 1.
 */
export type Place = string;

/** A shelf's settings. */
export type Shelf = {
  /** What is there. */
  lamps?: Lamp[];
};

/** Books on each other; one is its title for short. */
export type Stack = Item[];

/** A book that speaks. */
export type Tape = {
  /** The tag. */
  type: "tape";
  /** How long it speaks. */
  minutes: number;
};

/**
 * How a book is bound.
 * @since 1.0
 */
export type Binding =
  /** Glued. */
  | 1
  /**
   * x-shelf: "top"
   * @since 1.1
   */
  | 2
  /** @deprecated since 2.0. */
  | -1
  | 4;

/**
 * The states of a shelf.
 * @deprecated
 */
export type State =
  /** It has no books. */
  | "empty"
  | "full";
