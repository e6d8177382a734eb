"""The chunkers that can be chosen, and their names as an embedding set keeps them."""

from app.settings import Settings
from domain.chunking import CharacterWindowChunker, TokenWindowChunker
from domain.errors import Rejected
from domain.ports import Chunker
from domain.recursive_chunking import RecursiveChunker

_KINDS: dict[str, type[TokenWindowChunker | RecursiveChunker | CharacterWindowChunker]] = {
    "token-window": TokenWindowChunker,
    "recursive": RecursiveChunker,
    "character-window": CharacterWindowChunker,
}


def chosen_chunker(settings: Settings, token_window: tuple[int, int]) -> Chunker:
    """The chunker that the settings name.

    Args:
        token_window: tokens and overlap that suit the embedding model's window.

    Raises:
        Rejected: CHUNK_TOKENS or CHUNK_OVERLAP_TOKENS do not fit it.
    """
    given = settings.chunk_tokens, settings.chunk_overlap_tokens
    if settings.chunker == "character-window":
        if given != (None, None):
            raise Rejected(
                "CHUNK_TOKENS and CHUNK_OVERLAP_TOKENS mean nothing to CHUNKER=character-window,"
                " which counts characters: unset them."
            )
        return CharacterWindowChunker()
    kind = _KINDS[settings.chunker]
    tokens, overlap = token_window if kind is TokenWindowChunker else (400, 40)
    window = [
        own if own is not None else usual
        for own, usual in zip(given, (tokens, overlap), strict=True)
    ]
    try:
        return kind(*window)
    except ValueError as error:
        raise Rejected(f"CHUNK_TOKENS and CHUNK_OVERLAP_TOKENS: {error}") from error


def chunker_named(name: str) -> Chunker:
    """The chunker that an embedding set was made with.

    Raises:
        Rejected: there is none of that name.
    """
    kind, *numbers = name.rsplit("-", 2)
    try:
        size, overlap = map(int, numbers)
        return _KINDS[kind](size, overlap)
    except (KeyError, ValueError):
        raise Rejected(
            f"This version has no chunker {name!r}; a newer one made the sources here."
        ) from None
