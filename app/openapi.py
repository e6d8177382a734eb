"""The OpenAPI document of the JSON API, and the page that shows it."""

from copy import deepcopy
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, Router, get
from litestar.enums import MediaType
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from app.errors import ProblemBody
from app.permissions import RULES, Who
from domain.errors import NotFound

_DOCUMENT = "/api/v1/openapi.json"
_RAPIDOC = "https://cdn.jsdelivr.net/npm/rapidoc@9.3.8/dist/rapidoc-min.js"
_RAPIDOC_HASH = "sha384-szzoYhqSJqZH8X90KwbBjYL1CMLEa3U7xl/oAZg4ViKpYEY5GVhM+peBQB4u7ANM"
_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Beleg API</title>
<script type="module" src="{_RAPIDOC}" integrity="{_RAPIDOC_HASH}" crossorigin></script>
<rapi-doc spec-url="{_DOCUMENT}" render-style="read" load-fonts="false" show-header="false">
</rapi-doc>
</html>
"""
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src https://cdn.jsdelivr.net/npm/rapidoc@9.3.8/;"
        " style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}
_SOURCE_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "pdf_capture": {
                        "type": "string",
                        "enum": ["auto", "text", "vision"],
                        "description": "how a PDF is read; by default your preference",
                    },
                    "title": {"type": "string", "description": "shown instead of the file's name"},
                },
            }
        },
        "application/json": {
            "schema": {
                "oneOf": [
                    {
                        "type": "object",
                        "required": ["text"],
                        "properties": {
                            "title": {"type": "string", "description": "ends in .md: Markdown"},
                            "text": {"type": "string"},
                        },
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "required": ["source_id"],
                        "properties": {
                            "source_id": {
                                "type": "string",
                                "format": "uuid",
                                "description": "an entry of the library",
                            }
                        },
                        "additionalProperties": False,
                    },
                ]
            }
        },
    },
}


_ANSWERS = {
    "/api/v1/sources/{source_id}/original": {
        "*/*": {"schema": {"type": "string", "format": "binary"}}
    },
    "/api/v1/documents/{document_id}/audio": {
        "audio/mpeg": {"schema": {"type": "string", "format": "binary"}}
    },
    "/api/v1/documents/{document_id}/export": {
        "audio/mpeg": {"schema": {"type": "string", "format": "binary"}},
        "text/markdown": {"schema": {"type": "string"}},
    },
    "/api/v1/answers/{answer_id}/events": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "event": {"enum": ["delta", "citation", "done", "error"]},
                    "data": {"type": "string", "description": "JSON"},
                },
            }
        }
    },
}
"""What the framework cannot say of an answer: that it is of any type, or a stream."""


class _Page(OpenAPIRenderPlugin):
    """The page; it reads the document by itself."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002 - the plugin's interface
        """The same for everybody."""
        return _PAGE.encode()


async def _finish(response: Response[Any]) -> Response[Any]:
    # Litestar adds a page for unknown addresses, and the document without what is added below.
    if response.status_code != HTTPStatus.OK or response.media_type != MediaType.HTML:
        raise NotFound
    response.headers.update(_PAGE_HEADERS)
    return response


CONFIG = OpenAPIConfig(
    title="Beleg",
    version="0.1.0",
    description="Answers from your own documents, with citations that can be checked.",
    use_handler_docstrings=True,
    components=Components(
        security_schemes={
            "bearer": SecurityScheme(type="http", scheme="bearer", description="an API token"),
        }
    ),
    security=[{"bearer": []}],
    render_plugins=[_Page(path="/")],
    openapi_router=Router(
        "/api/v1/docs", route_handlers=[], include_in_schema=False, after_request=_finish
    ),
)


@get(_DOCUMENT, include_in_schema=False, media_type="application/vnd.oai.openapi+json")
async def document(request: Request[Any, Any, Any]) -> bytes:
    """The OpenAPI document."""
    return msgspec.json.encode(describe(request.app))


def describe(app: Litestar) -> dict[str, Any]:
    """The document, with what the framework cannot know: summaries, problems, open addresses."""
    described: dict[str, Any] = deepcopy(app.openapi_schema.to_schema())
    _, known = msgspec.json.schema_components([ProblemBody])
    described["components"]["schemas"]["Problem"] = known["ProblemBody"]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            rule = RULES.get((method.upper(), path))
            _complete(operation, is_open=rule is not None and rule.who is Who.ANYONE)
    described["paths"]["/api/v1/notebooks/{notebook_id}/sources"]["post"]["requestBody"] = (
        _SOURCE_BODY
    )
    for path, content in _ANSWERS.items():
        described["paths"][path]["get"]["responses"]["200"]["content"] = content
    return described


def _complete(operation: dict[str, Any], *, is_open: bool) -> None:
    summary, _, rest = operation.get("description", "").partition("\n\n")
    operation["summary"] = " ".join(summary.split()).rstrip(".")
    operation["description"] = " ".join(rest.split())
    problem = {
        "description": "A problem",
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    responses = operation["responses"]
    for status in [status for status in responses if status >= "400"]:
        responses[status] = problem
    responses["default"] = problem
    if is_open:
        operation["security"] = []
    else:
        responses["401"] = {**problem, "description": "No valid token"}
    if any(part["in"] == "path" for part in operation.get("parameters", [])):
        responses["404"] = {**problem, "description": "Unknown, malformed, or not yours"}
