"""Titles that fit where they are shown."""


def shortened(text: str, most: int) -> str:
    """`text` as one line of at most `most` characters, cut between words where there is one."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    words = cut if line[most - 1] == " " else cut.rpartition(" ")[0]
    return f"{(words if len(words) >= most // 2 else cut).rstrip(' .,;:–-')}…"
