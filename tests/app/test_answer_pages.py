"""What stands under an answer: doubts, what to copy, whether it helped."""

import re

import httpx
import pytest

from app.answer_copy import as_html, as_markdown
from app.answer_html import answer_html
from app.texts import words
from domain.conversation import Answer, Check, CheckKind
from tests.app.conftest import Beleg
from tests.app.test_page_routes import csrf, signed_in
from tests.domain.answers import answer_of

EN = words("en")
PASSAGES = ("The bridge [old] is red. It was built in 1932 by *Anna*.",)


def doubted(text: str, *checks: tuple[int, int]) -> str:
    made = answer_of(text, PASSAGES)
    found = tuple(Check(start, end, CheckKind.NUMBER, "why") for start, end in checks)
    return str(answer_html(Answer(**{**fields_of(made), "checks": found}), EN))


def fields_of(made: Answer) -> dict[str, object]:
    return {name: getattr(made, name) for name in Answer.__dataclass_fields__}


def underlined(html: str) -> list[str]:
    return re.findall(r'<span class="doubt number"[^>]*>([^<]*)</span>', html)


@pytest.mark.parametrize(
    ("text", "span", "parts"),
    [
        ("It is from 1933 [1].", (11, 15), ["1933"]),
        ("It is **from 1933** [1].", (13, 17), ["1933"]),
        ("**All** of it *is* red.", (2, 23), ["All", " of it ", "is", " red."]),
        ("- It is red\n- It is blue", (2, 11), ["It is red"]),
        ("See `1933` there [1].", (5, 9), ["1933"]),
        ("| a | 1933 |\n|---|---|\n| b | 1934 |", (29, 33), ["1934"]),
        ("<b>1933</b> & 1", (3, 7), ["1933"]),
    ],
)
def test_a_doubtful_stretch_is_underlined_whatever_crosses_it(
    text: str, span: tuple[int, int], parts: list[str]
) -> None:
    assert underlined(doubted(text, span)) == parts


def test_neighbouring_doubts_are_told_apart() -> None:
    assert underlined(doubted("It is red", (0, 2), (2, 5), (5, 9))) == ["It", " is", " red"]


def test_signs_of_ours_in_an_answer_underline_nothing() -> None:
    assert underlined(doubted("\ue100It\ue002 is \ue101red", (5, 7))) == ["is"]


def test_a_copy_in_markdown_names_title_page_and_quote() -> None:
    made = answer_of("It is **red** [1].", PASSAGES)
    assert as_markdown(made, EN) == (
        "It is **red** [1].\n\n**Citations**\n\n- \\[1\\] Notes: “The bridge \\[old\\] is red.”\n"
    )
    assert as_markdown(made, words("de")).count("„The bridge") == 1
    assert as_markdown(answer_of("Not there.", PASSAGES), EN) == "Not there.\n"
    loads = "See ![i](http://a.example/i.png) <img src=x>, `![j](k)` and 1 < 2!"
    assert as_markdown(answer_of(loads, PASSAGES), EN) == (
        "See \\![i](http://a.example/i.png) \\<img src=x>, `![j](k)` and 1 < 2!\n"
    )


def test_a_formatted_copy_has_numbers_and_no_link_of_ours() -> None:
    made = answer_of("It is **red** [1], <script>alert(1)</script> says it.", PASSAGES)
    html = str(as_html(made, EN))
    assert "<strong>red</strong> [1], &lt;script&gt;" in html
    assert "href" not in html
    assert "<p>[1] Notes: “The bridge [old] is red.”</p>" in html


@pytest.mark.asyncio(loop_scope="session")
async def test_checks_are_stored_with_the_answer_and_given_in_full(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, "The bridge was built in 1932 by Anna Berg.")
    beleg.provider.answer("The bridge was built in 1933 by Anna Berg [1]. It is blue today.")
    response = await client.post(
        f"/notebooks/{notebook}/questions?wait=1", json={"question": "When was it built?"}
    )
    answer = response.json()
    assert [(c["kind"], answer["text"][c["start"] : c["end"]]) for c in answer["checks"]] == [
        ("date", "1933"),
        ("uncited", "It is blue today."),
    ]
    assert all(check["detail"] for check in answer["checks"])
    assert (await client.get(f"/answers/{answer['id']}")).json() == answer


@pytest.mark.asyncio(loop_scope="session")
async def test_feedback_is_kept_changed_and_taken_back(beleg: Beleg) -> None:
    client, stranger = await beleg.user(), await beleg.user()
    notebook = await beleg.notebook(client)
    response = await client.post(f"/notebooks/{notebook}/questions?wait=1", json={"question": "?"})
    address = f"/answers/{response.json()['id']}"
    assert response.json()["feedback"] is None
    for said in ({"rating": "down", "comment": "The year is wrong."}, {"rating": "up"}):
        rated = await client.post(f"{address}/feedback", json=said)
        assert rated.status_code == 200
        assert rated.json()["feedback"] == {"comment": "", **said}
        assert (await client.get(address)).json()["feedback"] == {"comment": "", **said}
    assert (await client.post(f"{address}/feedback", json={"rating": None})).json()["feedback"] == {
        "rating": None,
        "comment": "",
    }
    for wrong in ({"rating": "maybe"}, {}, {"rating": "up", "comment": "x" * 2001}):
        assert (await client.post(f"{address}/feedback", json=wrong)).status_code == 400
    refused = await stranger.post(f"{address}/feedback", json={"rating": "up"})
    assert refused.status_code == 404


@pytest.mark.asyncio(loop_scope="session")
async def test_everything_under_an_answer_works_without_scripts(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    made = await client.post("/notebooks", data={"title": "B", "csrf": csrf(await home(client))})
    notebook = made.headers["location"].rpartition("/")[2]
    page = await client.get(f"/notebooks/{notebook}")
    form = {"csrf": csrf(page.text)}
    about = await client.get(f"/notebooks/{notebook}/composer?about=x")
    assert about.headers["location"] == f"/notebooks/{notebook}?about=x"
    suggested = await client.post(f"/notebooks/{notebook}/suggestions", data=form)
    assert suggested.headers["location"] == f"/notebooks/{notebook}"
    asked = await client.post(f"/notebooks/{notebook}/questions", data={**form, "question": "Why?"})
    assert asked.status_code == 303
    turns = (await client.get(f"/notebooks/{notebook}/turns")).text
    address = f"/answers/{re.findall(r'turn-([0-9a-f-]{36})', turns)[0]}"
    rated = await client.post(f"{address}/feedback", data={**form, "rating": "down"})
    assert rated.headers["location"].startswith(f"/notebooks/{notebook}#turn-")
    copied = await client.get(f"{address}/copy?form=html")
    assert copied.headers["content-type"] == "text/plain; charset=utf-8"
    stranger = await signed_in(beleg)
    assert (await stranger.get(f"{address}/copy")).status_code == 404


async def home(client: httpx.AsyncClient) -> str:
    return (await client.get("/")).text
