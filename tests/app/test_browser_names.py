"""Sessions are listed by the names that people know."""

import pytest

from app.browser_names import browser_name

_KIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
_MOBILE = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {_KIT} Chrome/142.0.0.0 Safari/537.36", "Chrome, Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64) {_KIT} Chrome/142.0 Safari/537.36 Edg/142.0",
            "Edge, Windows",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
            "Firefox, macOS",
        ),
        (
            f"Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) {_MOBILE} Safari/604.1",
            "Safari, iPhone",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 16; K) {_KIT} Chrome/142.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        ("curl/8.15.0", "curl/8.15.0"),
        ("", ""),
    ],
)
def test_a_browser_is_called_by_its_name(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
