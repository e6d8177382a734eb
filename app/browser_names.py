"""What a browser is called by people, from what it calls itself."""

_BROWSERS = (
    # a word of a `User-Agent`, and whose it is; most say that they are others, too
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> str:
    """Such as `Firefox, Windows`; what is not known here is shown as it calls itself."""
    browser = next((name for word, name in _BROWSERS if word in user_agent), "")
    system = next((name for word, name in _SYSTEMS if word in user_agent), "")
    return f"{browser}, {system}" if browser and system else browser or user_agent
