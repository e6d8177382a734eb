"""Text to speech: one module per provider, all behind the port `Speech`."""
