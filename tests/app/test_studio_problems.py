"""What is said in German of a document that is not made."""

import re

import pytest

from app.studio_problem_texts import STUDIO_PROBLEMS
from tests.conftest import ROOT

SAYS = ("domain/usecases", "domain", "app/routes")


def _sentences() -> str:
    """What domain and routes say, their strings joined as Python joins them."""
    texts = [path.read_text() for folder in SAYS for path in (ROOT / folder).glob("*.py")]
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))


@pytest.mark.parametrize(("code", "words", "german"), STUDIO_PROBLEMS)
def test_german_is_there_for_what_the_domain_says(code: str, words: str, german: str) -> None:
    assert words in _sentences(), code
    assert german.endswith((".", "!"))
