"""Pages and fragments."""
