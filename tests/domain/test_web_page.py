"""Pages that come in place of the one that was asked for."""

import pytest

from domain.fetch import charset_of, kind_of_page
from domain.source import SourceKind
from domain.web_page import why_no_page

ARTICLE = "Die alte Brücke über den Fluss wurde im Jahr 1932 gebaut. " * 60


@pytest.mark.parametrize(
    ("title", "text", "told"),
    [
        ("Just a moment...", "example.org needs to review the security", "human"),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked", "human"),
        ("Robot Check", "Type the characters you see: CAPTCHA", "human"),
        ("x", "Sind Sie ein Mensch? Bitte bestätigen Sie das.", "human"),
        ("App", "You need to enable JavaScript to run this app.", "script"),
        ("x", "Diese Seite benötigt JavaScript. Bitte aktivieren Sie es.", "script"),
        ("403 Forbidden", "nginx", "denied"),
        ("x", "Access Denied. You don't have permission to access this.", "denied"),
        ("x", "Zugriff verweigert", "denied"),
        ("x", "Before you continue to Google, sign in", "cookies"),
        ("x", "Mit Werbung weiterlesen oder das Pur-Abo wählen", "cookies"),
        ("x", "Loading…", "next to no text"),
        ("x", "", "next to no text"),
    ],
)
def test_is_told_and_why(title: str, text: str, told: str) -> None:
    assert told in (why_no_page(title, text) or "")
    assert why_no_page(title, text + ARTICLE) is None


@pytest.mark.parametrize(
    "text",
    ["The bridge was built in 1932.", "Die Brücke ist rot.  Der Turm ist weiß.", "橋は" * 10],
)
def test_a_short_page_is_a_page(text: str) -> None:
    assert why_no_page("x", text) is None


@pytest.mark.parametrize(
    ("told", "media_type", "kind"),
    [
        (SourceKind.HTML, "text/plain", SourceKind.URL),
        (SourceKind.TEXT, "text/html; charset=utf-8", SourceKind.URL),
        (SourceKind.TEXT, "text/plain", SourceKind.TEXT),
        (SourceKind.TEXT, "Text/CSV", SourceKind.CSV),
        (SourceKind.PDF, "text/html", SourceKind.PDF),
    ],
)
def test_how_a_page_is_read(told: SourceKind, media_type: str, kind: SourceKind) -> None:
    assert kind_of_page(told, media_type) is kind


@pytest.mark.parametrize(
    ("media_type", "charset"),
    [
        ("text/html; charset=ISO-8859-1", "ISO-8859-1"),
        ('text/html;x=y; Charset = "utf-8"; z', "utf-8"),
        ("text/html", ""),
        ("", ""),
    ],
)
def test_the_encoding_that_a_server_names(media_type: str, charset: str) -> None:
    assert charset_of(media_type) == charset
