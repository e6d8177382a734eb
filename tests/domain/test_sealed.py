"""Sealed passwords: whole again with their pad alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Rejected
from domain.sealed import PAD_BYTES, seal, unseal

PADS = st.binary(min_size=PAD_BYTES, max_size=PAD_BYTES)
NO_SURROGATES = st.characters(codec="utf-8", exclude_characters="\0")


@given(st.text(NO_SURROGATES, max_size=30), PADS)
def test_what_is_sealed_is_unsealed(password: str, pad: bytes) -> None:
    sealed = seal(password, pad)
    assert len(sealed) == PAD_BYTES
    assert unseal(sealed, pad) == password


def test_it_hides_the_password_and_its_length() -> None:
    pad = bytes(range(PAD_BYTES))
    assert b"secret" not in seal("secret", pad)
    assert len(seal("a", pad)) == len(seal("a" * 100, pad))


@pytest.mark.parametrize("password", ["a" * 128, "ä" * 64, "a\0b"])
def test_what_is_no_password_of_a_pdf_is_refused(password: str) -> None:
    with pytest.raises(Rejected):
        seal(password, bytes(PAD_BYTES))
