"""Pages: the Jinja environment, the headers, and page or fragment."""

import hashlib
import secrets
from dataclasses import fields
from decimal import Decimal
from importlib.resources import files
from itertools import groupby
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import Request, Response
from litestar.response import Redirect
from litestar.utils import url_quote

from app.answer_html import quotes_of
from app.browser_names import browser_name
from app.contexts import Context, ErrorPage, Frame, Problems
from app.security import csrf_token, session_cookie, session_of
from app.services import Services
from app.texts import Words, preferred, words
from app.uploads import ACCEPTED
from domain.account import LOCAL_EMAIL, User
from domain.errors import Problem
from domain.source import SkippedPage, Source, SourceKind, SourceStatus

AnyRequest = Request[Any, Any, Any]

HTMX_CDN = "https://cdn.jsdelivr.net/npm/htmx.org@4.0.1/dist"
HTMX_FILES = (
    # (file, where the CDN has it, the hash that its bytes must have)
    (
        "htmx.min.js",
        "htmx.min.js",
        "sha384-Qp9rdC8H7EqOoX+nR0P3RPG2Noji+qdwJlGpfzwQJsfOpp3sGwIdSP9xO3+UlEhn",
    ),
    (
        "hx-sse.min.js",
        "ext/hx-sse.min.js",
        "sha384-v8HvucQ+ohQhMg0arboXc5049yNR46QKMjphs7YDch+Wm7zpfK5XVS01f26mQDJV",
    ),
)
VISITOR = "beleg_visitor"
"""Key in a request's state: who is asking."""
NEW_SESSION = "beleg_new_session"
"""Key in a request's state: the secret of a session that its answer's cookie must carry."""

_PAGES = ("one_page", "page_count", "page_of")
_PARTS = {
    SourceKind.PPTX: ("one_slide", "slide_count", "slide_of"),
    SourceKind.XLSX: ("one_sheet", "sheet_count", "sheet_of"),
    SourceKind.EPUB: ("one_chapter", "chapter_count", "chapter_of"),
}
"""What the pages of a kind are called, where they are no pages."""

STATIC_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def _read_static() -> dict[str, tuple[bytes, str]]:
    """Content and hash of every static file."""
    return {
        file.name: (content, hashlib.blake2s(content, digest_size=8).hexdigest())
        for file in files("app").joinpath("static").iterdir()
        if file.name.rpartition(".")[2] in STATIC_TYPES
        for content in [file.read_bytes()]
    }


STATIC = _read_static()


def static_url(name: str) -> str:
    """The address of a static file; a changed file has another one."""
    return f"/static/{STATIC[name][1]}/{name}"


def htmx_scripts(base_url: str) -> list[tuple[str, str]]:
    """Address and integrity hash of every script of htmx."""
    return [
        (f"{base_url}/{name}" if base_url else f"{HTMX_CDN}/{path}", integrity)
        for name, path, integrity in HTMX_FILES
    ]


def skipped_lines(skipped: tuple[SkippedPage, ...], t: Words) -> list[str]:
    """Pages that gave no text, a line a reason: "Pages 3, 5–7: no text layer"."""
    lines = []
    for reason, group in groupby(
        sorted(skipped, key=lambda page: page.reason), key=lambda page: page.reason
    ):
        pages = sorted(page.page for page in group)
        name = "skipped_one" if len(pages) == 1 else "skipped_many"
        lines.append(t(name, pages=_runs(pages), reason=t.reason(reason)))
    return lines


def page_count(source: Source, t: Words) -> str:
    """How many pages a source has, called what they are: slides, sheets, chapters."""
    one, many, _ = _PARTS.get(source.kind, _PAGES)
    return t(one) if source.pages == 1 else t(many, n=t.number(source.pages or 0))


def page_of(source: Source, page: int, t: Words) -> str:
    """Where a page stands among a source's pages."""
    *_, which = _PARTS.get(source.kind, _PAGES)
    return t(which, n=page, total=source.pages) if source.pages else t("page_n", n=page)


def clock(seconds: Decimal | float) -> str:
    """How long something plays: 4:05."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _runs(numbers: list[int]) -> str:
    """1, 2, 3, 5 as "1–3, 5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in parts)


environment = Environment(
    loader=PackageLoader("templates", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
environment.globals |= {
    "accepted": ACCEPTED,
    "source_kinds": tuple(kind.value for kind in SourceKind),
    "source_statuses": tuple(status.value for status in SourceStatus),
    "static_url": static_url,
    "htmx_scripts": htmx_scripts,
    "skipped_lines": skipped_lines,
    "clock": clock,
    "page_count": page_count,
    "page_of": page_of,
    "quotes_of": quotes_of,
    "browser_name": browser_name,
}


def frame(request: AnyRequest, user: User | None) -> Frame:
    """What every template of this request may need."""
    services: Services = request.app.state.services
    session = request.state.get(NEW_SESSION) or session_of(request)
    language = user.language if user else ""
    return Frame(
        words=words(language or preferred(request.headers.get("accept-language", ""))),
        nonce=secrets.token_urlsafe(16),
        csrf=csrf_token(session) if user else "",
        user=user,
        can_sign_out=user is not None and user.email != LOCAL_EMAIL,
        can_write=services.settings.chat is not None,
        notices=services.notices,
        htmx_base_url=services.settings.htmx_base_url,
        here=_here(request),
    )


def _here(request: AnyRequest) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def render(context: Context) -> str:
    """A template with its context, as HTML."""
    values = {item.name: getattr(context, item.name) for item in fields(context)}
    return environment.get_template(context.template).render(values, t=context.frame.words)


def page(request: AnyRequest, context: Context, status: int = 200) -> Response[str]:
    """A page or a fragment, with the headers that keep it safe."""
    response = Response(render(context), status_code=status, media_type="text/html")
    for name, value in page_headers(context.frame).items():
        response.headers[name] = value
    secret = request.state.get(NEW_SESSION)
    if secret:
        response.set_cookie(session_cookie(secret, request))
    return response


def page_headers(frame: Frame) -> dict[str, str]:
    """What keeps a page safe: nothing loads or runs that is not ours, and nothing is looked up."""
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; script-src 'nonce-{frame.nonce}'; style-src 'self';"
            " img-src 'self' data:; media-src 'self'; connect-src 'self'; form-action 'self';"
            " base-uri 'none'; frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
        "Vary": "HX-Request, Cookie",
    }


def is_htmx(request: AnyRequest) -> bool:
    """True where a fragment is wanted."""
    return request.headers.get("hx-request") == "true"


def go_to(request: AnyRequest, path: str) -> Response[Any]:
    """Send the browser to another page of ours."""
    if is_htmx(request):
        headers = {"HX-Redirect": url_quote(path)}
        return Response("", status_code=200, media_type="text/html", headers=headers)
    return Redirect(path, status_code=303)


def error_page(request: AnyRequest, code: str, detail: str, status: int) -> Response[Any]:
    """An error as a page, or as a fragment for the corner where problems are told."""
    if code == "not_signed_in":
        is_page = request.method == "GET" and not is_htmx(request)
        here = quote(_here(request)) if is_page else ""
        return go_to(request, f"/sign-in?next={here}" if here else "/sign-in")
    visitor = request.state.get(VISITOR)
    around = frame(request, visitor and visitor.user)
    detail = around.words.problem(Problem(code, detail))
    if not is_htmx(request):
        return page(request, ErrorPage(around, status, detail), status)
    response = page(request, Problems(around, [detail]), status)
    response.headers["HX-Retarget"] = "#problems"
    response.headers["HX-Reswap"] = "innerHTML"
    return response
