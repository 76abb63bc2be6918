"""Each file has one verifier, a function with the name of its file."""
