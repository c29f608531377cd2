"""What is made of documents: the bindings, and the files around them."""
