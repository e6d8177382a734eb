"""Models: local ones and any OpenAI-compatible endpoint."""
