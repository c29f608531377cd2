"""Documents made of descriptions in other languages. What cannot be said is left out, and told."""
