"""Pages that a web server gives in place of the one that was asked for."""

import re

_LONG = 2_500
"""Visible characters; a text of so many is no notice, whatever words are in it."""
_BRIEF = 800
_BEGINNING = 400
_SHORT = 250
_LEAST = 20
_ROBOT = re.compile(
    r"captcha|just a moment\.\.\.|checking (?:if the site connection|your browser)"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human|are you (?:a )?(?:robot|human)"
    r"|unusual traffic|ddos protection by|attention required!|cloudflare ray id"
    r"|needs to review the security of your connection|press (?:&|and) hold"
    r"|(?:bist|sind) (?:du|sie) (?:ein )?(?:mensch|roboter)|kein(?:e)? roboter"
    r"|ungewöhnlichen? (?:datenverkehr|zugriffe)|(?:dein|ihr) browser wird überprüft"
    r"|êtes-vous (?:un )?(?:humain|robot)|eres (?:un )?(?:humano|robot)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"access (?:to this (?:page|site) has been |is )?denied|you have been blocked"
    r"|request (?:was |has been )?blocked|403 forbidden|\Aforbidden\b|zugriff verweigert"
    r"|zugriff (?:wurde )?(?:gesperrt|blockiert)|not available in your (?:country|region)"
    r"|in (?:deinem|ihrem) land nicht verfügbar|accès refusé|acceso denegado",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|disabled?) javascript"
    r"|javascript (?:is|must be|to be|has been|seems to be)\b.{0,30}(?:enabled|disabled|required)"
    r"|javascript (?:bitte )?(?:aktivieren|einschalten|ist deaktiviert|wird benötigt)"
    r"|aktivier\w* (?:bitte )?(?:sie )?javascript|javascript.{0,40}\baktivier"
    r"|activez javascript|activer javascript|active javascript|habilit\w+ javascript",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"(?:accept|agree to|consent to|allow|manage).{0,40}cookies|we (?:and our \d* ?partners )?use"
    r" cookies|cookies.{0,40}(?:akzeptieren|zustimmen|zulassen|annehmen)|cookie-einstellungen"
    r"|(?:akzeptier|zustimm)\w*.{0,60}cookies|mit werbung (?:und tracking )?(?:weiter)?lesen"
    r"|before you continue to|bevor sie (?:zu|mit) .{0,40}fortfahren|pur-abo"
    r"|acceptez? .{0,30}cookies",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"^\W*(?:loading|please wait|wird geladen|bitte warten|redirecting)", re.IGNORECASE
)
_REASONS = (
    (_ROBOT, "asks whether a human is reading, and shows its text to no program"),
    (_SCRIPT, "is made by a script in the browser, and holds no text of its own"),
    (_DENIED, "says that access is denied"),
    (_CONSENT, "only asks for consent to cookies"),
)


def why_no_page(title: str, text: str) -> str | None:
    """Why a page is not the one that was asked for, in a clause after "this page"; None if it is.

    Args:
        title: the page's own.
        text: everything that can be read on it.
    """
    visible = sum(not character.isspace() for character in text)
    if visible >= _LONG:
        return None
    # In a longer text only its beginning tells: further down these words are what it is about.
    shown = f"{title}\n{text if visible < _BRIEF else text[:_BEGINNING]}"
    for pattern, reason in _REASONS:
        if pattern.search(shown):
            return reason
    if visible < _LEAST or (visible < _SHORT and _WAITING.search(text)):
        return "holds next to no text"
    return None
