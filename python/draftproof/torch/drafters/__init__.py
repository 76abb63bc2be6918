"""One drafter a file; the function has the name of its file."""
