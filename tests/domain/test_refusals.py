"""Which answers say that the sources leave a question open."""

from domain.refusals import names_one


def test_only_a_whole_title_names_a_document() -> None:
    assert names_one("This notebook holds Bridge (2).", ["Bridge (2)"])
    assert names_one("Hier liegen: WORT, Satz.", ["Wort"])
    assert not names_one("Die Quellen beantworten diese Frage nicht.", ["Wort"])
    assert not names_one("Nothing.", ["", "No"])
