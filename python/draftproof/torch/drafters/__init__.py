"""Each file has one drafter, a function with the name of its file."""
