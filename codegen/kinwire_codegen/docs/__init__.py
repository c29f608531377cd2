"""Pages for people: the reference, and the site that is made of it."""
