"""Pages: the Jinja environment, and page or fragment."""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import Request, Response

AnyRequest = Request[Any, Any, Any]

environment = Environment(
    loader=PackageLoader("templates", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def error_page(request: AnyRequest, code: str, detail: str, status: int) -> Response[str]:
    """An error as a page."""
    _ = (request, code, files)
    return Response(detail, status_code=status, media_type="text/html")
