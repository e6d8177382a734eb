"""Files in, passages out."""
