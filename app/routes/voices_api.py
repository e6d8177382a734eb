"""Who can read aloud, as JSON."""

from litestar import Router, get

from app.requests import Wired
from app.structs.voices import VoicesOut


@get("/voices")
async def voices(services: Wired) -> VoicesOut:
    """The voices, the languages they read, and who speaks them here."""
    return VoicesOut.of(services.speech.speech if services.speech else None)


router = Router("/", route_handlers=[voices], tags=["documents"])
