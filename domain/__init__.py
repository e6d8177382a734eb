"""What Beleg knows: nouns, algorithms, ports and use-cases. No I/O."""
