"""One file per user intention; each sees its whole pipeline."""
