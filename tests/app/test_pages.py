"""The pages: every template, every text, and markers as links."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.resources import files

import jinja2
import pytest
from jinja2 import meta

from app import account_contexts, contexts
from app.answer_html import StreamedText, answer_html
from app.contexts import Context, Frame, Quoted, Turn, Viewer
from app.rendering import HTMX_FILES, environment, render, skipped_lines
from app.source_view import Asked, viewer
from app.texts import LANGUAGES, TEXTS, preferred, words
from app.uploads import Limits
from domain.access import Role, TokenScope
from domain.account import ApiToken, Session, User
from domain.audit import Act, AuditEntry
from domain.conversation import (
    Answer,
    AnswerMode,
    AnswerStatus,
    Check,
    CheckKind,
    Citation,
    Feedback,
    Mention,
    Rating,
)
from domain.errors import Problem
from domain.ids import (
    AnswerId,
    ChunkId,
    NotebookId,
    SessionId,
    SourceId,
    TokenId,
    UserId,
    VersionId,
    new_id,
)
from domain.legibility import Verdict
from domain.library import Place, Shelved, Wanted
from domain.notebook import Notebook, Share
from domain.passage import Passage
from domain.pdf_capture import BROKEN, FORM, PdfPage, PdfText, composed
from domain.ports import Box
from domain.retrieval import Hit
from domain.source import (
    CaptureMode,
    Progress,
    SkippedPage,
    Source,
    SourceKind,
    SourceStatus,
    Stage,
)
from domain.suggestions import Suggestions
from domain.summary import Summary, SummaryKind
from tests.app.operation_pages import exports, operations_pages
from tests.app.studio_contexts import shelves, studio_contexts
from tests.browser.htmx_files import FILES

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
NOTEBOOK = Notebook(
    id=NotebookId(new_id()),
    owner_id=UserId(new_id()),
    owner="a@example.org",
    role=Role.OWNER,
    title="Bridges & <rivers>",
    language="en",
    source_count=4,
    ready_count=2,
    failed_count=1,
    chunk_count=9,
    created_at=NOW,
)
GUEST = Share(UserId(new_id()), "<guest>@example.org", Role.ASK, NOW)
SESSION = Session(SessionId(new_id()), "", NOW, NOW, NOW)
TOKENS = [
    ApiToken(TokenId(new_id()), "<cli>", tuple(TokenScope), NOW, NOW, NOW),
    ApiToken(TokenId(new_id()), "<cli>", ("read",), NOW, None, None),
]
ENTRIES = [
    AuditEntry(new_id(), NOW, act, None, None, UserId(new_id()), "<a>", "::1", {"role": "<ask>"})
    for act in Act
]
USER = User(
    id=UserId(new_id()),
    email="a@example.org",
    is_admin=False,
    pdf_capture="auto",
    language="",
    credit=Decimal(5),
    created_at=NOW,
)
EVIL = '<script>alert("x")</script>'


def frame(language: str = "en", *, user: User | None = USER, can_write: bool = True) -> Frame:
    return Frame(
        words=words(language),
        nonce="nonce",
        csrf="csrf",
        user=user,
        can_sign_out=True,
        can_write=can_write,
        notices=["A notice."],
        htmx_base_url="",
        here="/here?a=1",
    )


def source(**changes: object) -> Source:
    plain = Source(
        id=SourceId(new_id()),
        owner_id=USER.id,
        kind=SourceKind.PDF,
        title=f"Report {EVIL}.pdf",
        name="report.pdf",
        sha256=b"",
        capture_mode=CaptureMode.TEXT,
        media_type="application/pdf",
        bytes=10,
        status=SourceStatus.READY,
        progress=None,
        error=None,
        attempt=1,
        version_id=VersionId(new_id()),
        language="en",
        pages=3,
        words=1234,
        chunk_count=3,
        skipped=(SkippedPage(2, "has no text layer"), SkippedPage(3, "has no text layer")),
        created_at=NOW,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # names of its fields


def answer(text: str = "It is red [1].", *, marker: str = "[1]", **changes: object) -> Answer:
    mentions = tuple(
        Mention(found.start(), found.end(), "It is red.", 4, 14)
        for found in re.finditer(re.escape(marker), text)
    )
    citation = Citation(
        *(1, 1, ChunkId(new_id()), SourceId(new_id()), VersionId(new_id())),
        f"Report {EVIL}",
        *(0, 3, 0.875),
        mentions=mentions,
    )
    hit = Hit(
        1, citation.chunk_id, citation.source_id, citation.version_id, EVIL, 0, 3, 4, "en",
        "It is red.", 0.875, 1.0,
    )  # fmt: skip
    plain = Answer(
        id=AnswerId(new_id()),
        notebook_id=NOTEBOOK.id,
        user_id=USER.id,
        question=f"Is it red? {EVIL}",
        source_ids=None,
        about=None,
        mode=AnswerMode.SOURCES,
        status=AnswerStatus.COMPLETE,
        refused=False,
        text=text,
        error=None,
        created_at=NOW,
        citations=(citation,) if mentions else (),
        retrieved=(hit,),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # names of its fields


def turn(made: Answer, language: str = "en") -> Turn:
    return Turn(made, answer_html(made, words(language)), frozenset({1}))


def shown(**changes: object) -> Viewer:
    asked = Asked(3, 4, 14, None, "/sources/x", (("page", "3"),), 1)
    passage = Passage(2, 3, f"So: It is red. {EVIL}", "en")
    made = viewer(source(), passage, asked, None)
    return replace(made, **changes)  # type: ignore[arg-type]  # names of its fields


SOURCES = [
    source(),
    source(status=SourceStatus.QUEUED),
    source(status=SourceStatus.PROCESSING),
    source(status=SourceStatus.PROCESSING, progress=Progress(Stage.READING, 3, 40)),
    source(status=SourceStatus.PROCESSING, progress=Progress(Stage.EMBEDDING, 3, 40)),
    source(status=SourceStatus.FAILED, error=Problem("unreadable", f"No {EVIL}.")),
    source(kind=SourceKind.TEXT, pages=None),
]
LIMITS = Limits(20_000_000, 500_000_000, 50)
SHELVED = [
    Shelved(each, places)
    for each in [*SOURCES, source(summary=Summary(SummaryKind.QUOTED, EVIL), url=f"https://{EVIL}")]
    for places in ((), (Place(NOTEBOOK.id, EVIL), Place(NotebookId(new_id()), "Other")))
]
ANSWERS = [
    answer(),
    answer(status=AnswerStatus.STREAMING),
    answer(status=AnswerStatus.STOPPED),
    answer("", status=AnswerStatus.STOPPED),
    answer(status=AnswerStatus.FAILED, error=Problem("model_error", EVIL), source_ids=()),
    answer(mode=AnswerMode.EXTRACTIVE),
    answer("General.", mode=AnswerMode.GENERAL, retrieved=()),
    answer("Not there.", refused=True),
    answer(citations=(replace(answer().citations[0], removed=True),)),
    answer(checks=(Check(0, 5, CheckKind.NAME, EVIL),), feedback=Feedback(Rating.UP)),
    answer(
        f"It is {EVIL} [1].",
        checks=(Check(0, 6, CheckKind.DATE, EVIL), Check(6, 30, CheckKind.UNCITED, EVIL)),
        feedback=Feedback(Rating.DOWN, EVIL),
    ),
]


def every_context(around: Frame) -> list[Context]:
    turns = [turn(made, around.words.language) for made in ANSWERS]
    before, citation, note = new_id(), answer().citations[0], NOTEBOOK.id
    return [
        contexts.ErrorPage(around, 404, EVIL),
        contexts.ErrorPage(replace(around, user=None), 500, EVIL),
        contexts.Problems(around, [EVIL]),
        *(
            account_contexts.SignInPage(
                *(around, is_new, is_open),
                invitation=EVIL,
                provider=EVIL,
                next="/",
                email=EVIL,
                problem=EVIL,
                is_reset=not is_new,
            )
            for is_new, is_open in ((False, True), (False, False), (True, True))
        ),
        account_contexts.ResetPage(around, EVIL, EVIL),
        *(
            account_contexts.AccountPage(
                around,
                [SESSION],
                SESSION.id,
                [token],
                list(TokenScope),
                exports(EVIL),
                EVIL,
                EVIL,
                EVIL,
            )
            for token in TOKENS
        ),
        *(account_contexts.AuditPage(around, [entry], before) for entry in ENTRIES),
        *operations_pages(around, SOURCES, EVIL),
        contexts.NotebooksPage(around, [], None),
        contexts.NotebooksPage(around, [NOTEBOOK], before),
        *(
            contexts.NotebookPage(
                *(around, NOTEBOOK, note, Role.OWNER, SOURCES, "s", turns, before, before, None),
                *(LIMITS, shelf),
            )
            for shelf in shelves(EVIL)
        ),
        contexts.NotebookPage(
            *(around, NOTEBOOK, note, Role.READ, [], "s", [], None, before, source(), LIMITS),
            shelves(EVIL)[-1],
        ),
        *studio_contexts(around, EVIL),
        account_contexts.GuestsFragment(around, NOTEBOOK, [GUEST], EVIL, EVIL),
        account_contexts.GuestsPage(around, NOTEBOOK, []),
        contexts.TurnsFragment(around, NOTEBOOK, turns, None),
        contexts.AskedFragment(around, NOTEBOOK, turns[1], before, None),
        contexts.ComposerFragment(around, NOTEBOOK, before, source(title=EVIL)),
        *(
            contexts.SuggestionsFragment(
                around, note, Suggestions([EVIL], is_written=False, can_be_written=can)
            )
            for can in (True, False)
        ),
        *(contexts.FeedbackFragment(around, made, said=True) for made in ANSWERS),
        contexts.SourceList(around, note, SOURCES, [EVIL], Role.OWNER),
        *(contexts.LibraryRow(around, each, [NOTEBOOK]) for each in SHELVED),
        contexts.LibraryPage(around, SHELVED, [NOTEBOOK], Wanted(EVIL, SourceKind.PDF), "/more"),
        contexts.LibraryPage(around, [], [], Wanted(), ""),
        contexts.LibraryPage(around, [], [], Wanted(EVIL), ""),
        *(
            kind(around, NOTEBOOK, shelved, EVIL, is_all)
            for kind in (contexts.PickerFragment, contexts.PickerPage)
            for shelved, is_all in ((SHELVED, False), ([], True))
        ),
        contexts.ViewerFragment(around, shown()),
        contexts.ViewerFragment(around, shown(text=None)),
        contexts.ViewerFragment(around, shown(boxes=[])),
        contexts.ViewerPage(around, shown(boxes=[Box(0.1, 0.2, 0.3, 0.4)]), note),
        contexts.ViewerPage(around, shown(text=Quoted("a", "", "b", "/1", "/2")), None),
        contexts.RemovedFragment(around, citation, "quote"),
        contexts.RemovedPage(around, citation, "", note),
        *(contexts.TurnFragment(around, each) for each in turns),
        *(contexts.SourceRow(around, note, each, Role.OWNER) for each in SOURCES),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_renders_and_lets_nothing_through(language: str) -> None:
    for can_write in (True, False):
        for context in every_context(frame(language, can_write=can_write)):
            assert "<script>alert" not in render(context), context


def test_every_template_has_a_context_or_belongs_to_one_that_has() -> None:
    made = {context.template for context in every_context(frame())}
    todo, reached = list(made), set[str]()
    while todo:
        name = todo.pop()
        reached.add(name)
        text, _, _ = jinja2.PackageLoader("templates", "").get_source(environment, name)
        used = {one for one in meta.find_referenced_templates(environment.parse(text)) if one}
        todo += used - reached
    there = {
        f"{folder.name}/{file.name}"
        for folder in files("templates").iterdir()
        if folder.is_dir() and not folder.name.startswith("__")
        for file in folder.iterdir()
    }
    assert reached == there


def test_every_text_is_used_and_has_the_same_values_in_both_languages() -> None:
    pages = "".join(
        file.read_text()
        for folder in files("templates").iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".html")
    )
    code = "".join(
        files("app").joinpath(name).read_text()
        for name in (
            *("rendering.py", "answer_html.py", "answer_copy.py", "routes/credential_pages.py"),
            *("routes/usage_pages.py", "routes/source_pages.py"),
        )
    )
    families = tuple(re.findall(r"""t\(["'](\w+_)["'] ~""", pages))
    for name, (german, english) in TEXTS.items():
        used = f'"{name}"' in pages + code or f"'{name}'" in pages or name.startswith(families)
        assert used, name
        assert set(re.findall(r"{\w+}", german)) == set(re.findall(r"{\w+}", english)), name


def test_skipped_pages_are_named_in_runs() -> None:
    skipped = tuple(SkippedPage(page, "has no text layer") for page in (5, 1, 2, 3))
    unknown = SkippedPage(9, "is blue")
    assert skipped_lines((*skipped, unknown), words("en")) == [
        "Pages 1–3, 5: no text layer",
        "Page 9: is blue",
    ]
    assert skipped_lines(skipped, words("de")) == ["Seiten 1–3, 5: keine Textebene"]


@pytest.mark.parametrize("problem", [Verdict.CODES, Verdict.GARBLED, Verdict.EMPTY, FORM, BROKEN])
def test_why_a_page_of_a_pdf_is_left_out_is_said_in_german(problem: str) -> None:
    pdf = PdfText((PdfPage(1, "Read me", problem), PdfPage(2, "A page like any other")))
    [skipped] = composed(pdf, CaptureMode.TEXT, {}, sees=False).skipped
    assert words("de").reason(skipped.reason) != skipped.reason


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-DE,de;q=0.9,en;q=0.5", "de"),
        ("en-GB,de;q=0.3", "en"),
        ("fr;q=1.0, de;q=0.7, en;q=0.6", "de"),
        ("fr", "en"),
        ("", "en"),
        ("de;q=x,,;q=", "en"),
    ],
)
def test_the_language_is_the_one_a_browser_ranks_highest(header: str, language: str) -> None:
    assert preferred(header) == language


def links(html: str) -> list[str]:
    return re.findall(r'<a class="cite"[^>]*>(\d+)</a>', html)


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("Red [1], and **bold.**[1] Text", "<strong>bold.</strong><a"),
        ("- red [1]\n- *blue [1]*", "<em>blue <a"),
        ("| a | b |\n|---|---|\n| x [1] | y |", "<td>x <a"),
        ("Red [1](https://example.org)", "(https://example.org)"),
        ("[1]: first", ": first"),
        ("# Red [1]", "<h3>Red <a"),
    ],
)
def test_markers_become_links_wherever_they_stand(text: str, has: str) -> None:
    html = answer_html(answer(text), words("en"))
    assert len(links(html)) == text.count("[1]")
    assert has in html
    assert "[1]" not in html


def test_markers_in_code_and_in_links_stay_text() -> None:
    made = answer("`a[1]` and [see [1]](https://example.org) and\n\n```\nb[1]\n```\nred [1]")
    html = answer_html(made, words("en"))
    assert len(links(html)) == 1
    assert "<code>a[1]</code>" in html
    assert "b[1]" in html


def test_brackets_that_are_no_mention_stay_text() -> None:
    made = answer("Red [1], not [2] and \ue0000\ue001.")
    html = answer_html(made, words("en"))
    assert links(html) == ["1"]
    assert "not [2] and \ufffd0\ufffd." in html


@pytest.mark.parametrize(
    "text",
    [
        EVIL,
        '<img src="https://evil.example/x.png">',
        "![x](https://evil.example/x.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        '[x](https://example.org "t [1]")',
        "```[1]<b>\nx\n```",
        "<style>*{display:none}</style>",
    ],
)
def test_an_answer_brings_in_nothing_but_text(text: str) -> None:
    html = answer_html(answer(text), words("en"))
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"p", "a", "pre", "code", "br"}
    for attribute in re.findall(r'href="([^"]*)"', html):
        assert attribute.startswith(("https://", "/answers/"))
    if "https://example.org" in html:
        assert 'rel="noopener noreferrer nofollow"' in html


def test_a_streamed_marker_is_a_link_once_its_citation_is_known() -> None:
    made = answer()
    text = StreamedText(made, words("en"))
    assert text.feed("a [1] <b>") == "<span>a [1] &lt;b&gt;</span>"
    text.know(made.citations[0])
    assert links(text.feed("c [1] d [1]")) == ["1", "1"]
    assert "mention=2" in text.feed("[1]")
    assert text.feed("\n\n") == "<span>\n\n</span>"


def test_a_streamed_marker_in_code_stays_text() -> None:
    made = answer()
    text = StreamedText(made, words("en"))
    text.know(made.citations[0])
    for piece, count in (
        *(("`a[1]` b [1]", 1), ("```\n[1]", 0), ("\n\n[1]\n", 0), ("```\n [1]", 1)),
        *(("a ` b [1]", 0), ("\n\n[1]", 1)),
    ):
        assert len(links(text.feed(piece))) == count, piece


def test_lines_of_a_pdf_flow_without_moving_the_quote() -> None:
    text = "Heading\nThis line is long enough to be a full line of a\nparagraph, and ends.\n1 One"
    start = text.index("paragraph")
    asked = Asked(1, start, start + 9, None, "/sources/x")
    made = viewer(source(), Passage(0, 1, text), asked, None).text
    assert made is not None
    assert made.before == "Heading\nThis line is long enough to be a full line of a "
    assert made.quote == "paragraph"
    assert made.after == ", and ends.\n1 One"


def test_a_long_text_is_shown_around_its_quote() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(100_000))
    asked = Asked(None, 50_000, 50_010, None, "/sources/x", (("start", "50000"),))
    made = viewer(source(kind=SourceKind.TEXT), Passage(0, None, text), asked, None).text
    assert made is not None
    assert made.quote == text[50_000:50_010]
    assert len(made.before + made.quote + made.after) == 24_000
    assert made.earlier_url == "/sources/x?start=50000&at=20000"
    assert made.later_url == "/sources/x?start=50000&at=68000"


def test_htmx_comes_with_the_hashes_that_the_browser_tests_check() -> None:
    assert {name: integrity for name, _, integrity in HTMX_FILES} == {
        name: integrity for name, (_, integrity) in FILES.items()
    }


@pytest.mark.parametrize(
    ("code", "offered", "other"),
    [("unreadable", "remove", "retry"), ("model_refused", "retry", "remove")],
)
def test_a_retry_is_offered_only_where_it_can_help(code: str, offered: str, other: str) -> None:
    failed = source(status=SourceStatus.FAILED, error=Problem(code, "It did not work."))
    html = render(contexts.SourceRow(frame(), NOTEBOOK.id, failed, Role.OWNER))
    form = html[html.index("source-actions") : html.index('<details class="menu">')]
    assert f"/{failed.id}/{offered}" in form
    assert f"/{failed.id}/{other}" not in form


@pytest.mark.parametrize("code", ["unreadable", "address_refused"])
def test_an_unreadable_page_of_the_web_offers_to_be_fetched_again(code: str) -> None:
    failed = source(
        status=SourceStatus.FAILED, error=Problem(code, "It is blocked."), url="https://x.test/"
    )
    row = render(contexts.SourceRow(frame(), NOTEBOOK.id, failed, Role.OWNER))
    entry = render(contexts.LibraryRow(frame(), Shelved(failed, ()), []))
    for html in (row, entry):
        form, _, _ = html.partition('<details class="menu">')
        assert (f"/{failed.id}/refresh" in form) == (code == "unreadable")
        assert f"/{failed.id}/retry" not in form


def test_a_page_that_became_a_locked_pdf_asks_for_its_password() -> None:
    ready = source(error=Problem("password_needed", "It is locked."), url="https://x.test/")
    row = render(contexts.SourceRow(frame(), NOTEBOOK.id, ready, Role.OWNER))
    entry = render(contexts.LibraryRow(frame(), Shelved(ready, ()), []))
    for html in (row, entry):
        assert 'type="password" name="password"' in html


def test_every_distinct_quote_of_a_marker_is_shown() -> None:
    made = answer("It is red [1]. Red [1]. It is wide [1].")
    citation = made.citations[0]
    first, again, wide = citation.mentions
    mentions = (first, again, replace(wide, quote="It is wide.", start=20, end=31))
    made = replace(made, citations=(replace(citation, mentions=mentions),))
    html = render(contexts.TurnFragment(frame(), turn(made)))
    shown_quotes = re.findall(r'class="cited-quote" href="[^"]*mention=(\d)"[^>]*>([^<]*)<', html)
    assert shown_quotes == [("0", "It is red."), ("2", "It is wide.")]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (Problem("password_needed", "This PDF is protected by a password."), "Gib es ein"),
        (Problem("unreadable", "None of its 3 pages has a text layer."), "lesbarer Text"),
        (
            Problem("too_large", "This source has 200,001 words; 200,000 is the limit. Split it."),
            "hat 200.001 Wörter; 200.000 ist die Grenze. Teile sie auf",
        ),
        (
            Problem("too_large", "5 a.txt has 20.000001 MB; 20 MB is the limit."),
            "hat 20,000001 MB; 20 MB ist die Grenze. Teile sie auf",
        ),
        (
            Problem("too_large", "This notebook has 300 sources, and 300 is the limit. Take one."),
            "hat 300 Quellen; 300 ist die Grenze. Nimm eine heraus",
        ),
        (
            Problem("too_large", "This page of a.test has more than 2.5 MB, the limit."),
            "hat mehr als 2,5 MB, die Grenze",
        ),
        (
            Problem("too_large", "This recording has 26.0 MB as MP3; 25.0 MB is the limit."),
            "hat die Aufnahme 26,0 MB; 25,0 MB ist die Grenze",
        ),
        (Problem("unreadable", "Something new."), "ließ sich kein Text lesen"),
        (Problem("new_code", "Something new."), "Something new."),
    ],
)
def test_german_pages_tell_known_problems_in_german(problem: Problem, said: str) -> None:
    assert said in words("de").problem(problem)
    assert words("en").problem(problem) == problem.detail


def test_a_card_counts_ready_sources_and_failed_ones_apart() -> None:
    html = render(contexts.NotebooksPage(frame(), [NOTEBOOK], None))
    assert "2 sources" in html
    assert "1 in preparation" in html
    assert "1 failed" in html


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (SummaryKind.WRITTEN, "Summary"),
        (SummaryKind.QUOTED, "without a language model"),
        (SummaryKind.NONE, "There is no summary:"),
    ],
)
def test_a_summary_stands_above_the_first_page_and_says_what_it_is(
    kind: SummaryKind, said: str
) -> None:
    summed_up = source(summary=Summary(kind, f"A report. {EVIL}"))
    for page, has_summary in ((1, True), (2, False)):
        asked = Asked(page, 0, 0, None, "/sources/x")
        made = viewer(summed_up, Passage(0, page, "Text"), asked, None)
        html = render(contexts.ViewerFragment(frame(), made))
        assert (said in html) is has_summary
        assert "<script>alert" not in html
