"""The one way out to addresses that users give."""
