"""The settings in force, as the admin may see them: without secrets."""

from dataclasses import fields, is_dataclass
from urllib.parse import urlsplit, urlunsplit

from app.settings import Endpoint, Settings
from app.speech_settings import Speaker

_SET, _NOT_SET = "(set)", "(not set)"
_VARIABLES = {"chat": "LLM"}
"""What an endpoint's variables begin with, where it is not the field's name."""


def settings_shown(settings: Settings) -> list[tuple[str, str]]:
    """Every setting by its variable's name, and its value as text, in the order of their docs."""
    shown: list[tuple[str, str]] = []
    for item in fields(settings):
        value = getattr(settings, item.name)
        name = _VARIABLES.get(item.name, item.name.upper())
        if isinstance(value, Endpoint):
            shown += _endpoint(name, value)
        elif isinstance(value, Speaker):
            voices = ", ".join(f"{ours}={theirs}" for ours, theirs in value.voices.items())
            shown += [
                *((f"{name}_PROVIDER", value.provider), *_endpoint(name, value)),
                (f"{name}_VOICES", _text(voices)),
            ]
        elif not item.repr:
            shown.append((name, _SET if value else _NOT_SET))
        elif is_dataclass(value):
            # Whatever it holds, its own representation leaves its secrets out.
            shown.append((name, repr(value)))
        else:
            shown.append((name, _text(value)))
    return shown


def _endpoint(name: str, endpoint: Endpoint | Speaker) -> list[tuple[str, str]]:
    return [
        (f"{name}_MODEL", endpoint.model),
        (f"{name}_BASE_URL", _without_password(endpoint.base_url)),
        (f"{name}_API_KEY", _SET if endpoint.api_key else _NOT_SET),
    ]


def _text(value: object) -> str:
    match value:
        case None | "":
            return _NOT_SET
        case bool():
            return "on" if value else "off"
        case tuple() | list():
            return ", ".join(map(str, value)) or _NOT_SET
        case str() if "://" in value:
            return _without_password(value)
        case _:
            return str(value)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
