// Constants of Tiny 2.1-draft.
// Generated from tiny.json by `kinwire generate`: do not edit.
// x-shelf: {"wood": "oak"}

export const methods = {
  "books/find": {
    "kind": "request",
    "from": "client"
  },
  "books/lent": {
    "kind": "notification",
    "from": "server"
  },
  "books/announce": {
    "kind": "either",
    "from": "both"
  },
  "books/rate": {
    "kind": "request",
    "from": "client"
  },
  "books/count": {
    "kind": "request",
    "from": "client"
  }
};

export const errors = {
  "NoSuchBook": {
    "code": 8,
    "message": "No such book"
  },
  "Dusty": {
    "code": 9,
    "message": "Too dusty"
  },
  "Worn": {
    "code": 4004,
    "message": "The book is worn"
  }
};

export const enums = {
  "Binding": {
    "PaperBack": 1,
    "HardBack": 2,
    "None": -1
  }
};
