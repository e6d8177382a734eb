"""Which addresses may be fetched, before any name is resolved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import AddressRefused
from domain.web_address import is_address, is_public, name_in, redirected, web_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://example.org", "https://example.org/"),
        (" HTTP://Example.ORG:80/A?b#c ", "http://example.org/A?b"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://bücher.example/ä?ö=ü", "https://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"),
        ("https://example.org./%7Ea%20b", "https://example.org/%7Ea%20b"),
        ("https://web.archive.org/web/2020/http://example.org/", None),
        (
            "https://[2606:2800:220:1:248:1893:25C8:1946]/",
            "https://[2606:2800:220:1:248:1893:25c8:1946]/",
        ),
        ("https://93.184.216.34/", None),
    ],
)
def test_one_written_form(text: str, address: str | None) -> None:
    assert str(web_address(text)) == (address or text)
    assert str(web_address(str(web_address(text)))) == (address or text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.org", "ftp://example.org/", "https:example.org", "https:///x", "https://"),
        *("https://a b.example/", "https://exa\nmple.org/", "https://example.org\\@127.0.0.1/"),
        *("https://user@example.org/", "https://:pw@example.org/", "https://example.org:22/"),
        *(
            "https://example.org:99999/",
            "https://example.org:x/",
            "https://[::1/",
            "https://-a.org/",
        ),
        *("https://localhost/", "https://a.localhost/", "https://printer.local/", "https://db/"),
        *("https://127.1/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/"),
        *(
            "https://1.2.3.4.5/",
            "https://example.123/",
            "https://１２７.0.0.1/",
            "https://127。0。0。1/",
        ),
        *("https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/", "https://ⓔxample.org/"),
        *("https://example.org/http://10.0.0.1/", "https://example.org/?u=http://169.254.169.254/"),
        f"https://{'a' * 64}.example/",
        f"https://example.org/{'a' * 2000}",
        f"https://example.org/{'ä' * 1000}",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        web_address(text)


@given(
    st.one_of(
        st.text(),
        st.builds(
            "http{}://{}{}".format,
            st.sampled_from(["", "s", "x"]),
            st.text(st.sampled_from("ab.1-:@[]/?#%\\ⓐ。ß０x٣\ud800\u200d ")),
            st.text(),
        ),
    )
)
def test_any_text_is_refused_or_has_one_form_that_stays(text: str) -> None:
    try:
        address = web_address(text)
    except AddressRefused:
        return
    assert str(web_address(str(address))) == str(address)
    assert str(address).isascii()
    assert is_public(address.host) or "." in address.host


@pytest.mark.parametrize("trusted", ["10.0.0.1", "10.0.0.1:9000"])
def test_a_host_that_the_operator_named(trusted: str) -> None:
    assert web_address("http://10.0.0.1:9000/x", [trusted]).trusted
    with pytest.raises(AddressRefused):
        web_address("http://u@10.0.0.1:9000/", [trusted])
    with pytest.raises(AddressRefused):
        web_address("http://10.0.0.2:9000/", [trusted])


def test_a_redirect_is_an_address_too() -> None:
    start = web_address("https://example.org/a/b")
    assert str(redirected(start, "../c d?e")) == "https://example.org/c%20d?e"
    assert str(redirected(start, "//example.com")) == "https://example.com/"
    with pytest.raises(AddressRefused, match="redirects elsewhere"):
        redirected(start, "http://localhost/")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *(("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True)),
        *(("64:ff9b::808:808", True), ("11.0.0.1", True), ("100.128.0.1", True)),
        *(("10.0.0.1", False), ("100.64.0.1", False), ("168.63.129.16", False)),
        *(("::ffff:10.0.0.1", False), ("64:ff9b::a00:1", False), ("2002:808:808::", False)),
        *(("::", False), ("::1", False), ("fe80::1", False), ("fc00::1", False)),
        *(("2001:db8::1", False), ("2001::1", False), ("ff02::1", False), ("4000::1", False)),
        *(("fe80::1%1", False), ("", False), ("localhost", False), ("127.1", False)),
    ],
)
def test_which_ip_addresses_are_public(address: str, *, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/", "example.org"),
        ("https://example.org/a/Bericht%202.pdf?x", "Bericht 2.pdf"),
        ("https://example.org/a/", "a"),
    ],
)
def test_what_a_page_is_called_as_a_file(url: str, name: str) -> None:
    assert name_in(url) == name


def test_an_address_among_pasted_texts() -> None:
    assert is_address(" https://example.org/a \n")
    assert not is_address("See https://example.org/")
    assert not is_address("https://example.org/ is one")
    assert not is_address("example.org")
