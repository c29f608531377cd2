"""Documents made of other descriptions. What they cannot represent is left out and reported."""
