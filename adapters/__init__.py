"""One module per technology, each behind a port."""
