"""`beleg eval` over a small notebook and the test provider."""

import json
from pathlib import Path

import pytest

from app import evaluation
from domain.errors import NotFound, Rejected
from tests.app.conftest import Start

_TEXTS = {
    "Bridge": "The old bridge over the river was opened in 1932. It is 1,149 metres long.",
    "Canal": "The canal was dug by hand. Its eight locks lift ships by 34 metres.",
    "Tower": "The tower of the town hall burned down in 1704 and was never rebuilt.",
}
_QUESTIONS = [
    {"question": "When was the old bridge opened?", "relevant": ["Bridge"], "facts": ["1932"]},
    {"question": "How many locks has the canal?", "relevant": [{"source": "Canal"}]},
    {"question": "Who painted\u2028the ceiling?"},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    lines = (json.dumps(question, ensure_ascii=False) for question in _QUESTIONS)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


async def test_figures_of_two_settings_stand_side_by_side(start: Start, questions: Path) -> None:
    beleg = await start()
    client = await beleg.user()
    notebook = await beleg.notebook(client, "Town")
    for title, text in _TEXTS.items():
        await beleg.text(client, notebook, text, title)
    email = (await client.get("/me")).json()["email"]
    before = len(beleg.provider.ledger)
    beleg.provider.answer("The old bridge was opened in 1932 [1]. It is 1,149 metres long [99].")
    asked = evaluation.Asked(questions, "Town", email, answers=True, compare=[{"RETRIEVAL_K": "1"}])
    columns = await evaluation.evaluate(asked, environment=beleg.environment)
    assert [column.name for column in columns] == ["as set", "RETRIEVAL_K=1"]
    both = [column.rows() for column in columns]
    assert [figures["k"] for figures in both] == [8, 1]
    assert both[0]["recall@k"] == 1.0
    assert 0.5 < (both[0]["markers valid"] or 0) < 1
    assert both[1]["markers valid"] == 1.0
    for figures in both:
        assert figures["quotes exact"] == 1.0
        assert figures["answers that failed"] == 0
        assert figures["cost USD"]
    # A search, a question and an answer; one search more where something is relevant.
    assert len(beleg.provider.ledger) - before == 2 * (3 * 3 + 2)
    told = evaluation.table(columns).splitlines()
    assert len({len(line) for line in told}) == 1
    assert json.loads(evaluation.as_json(columns))[1]["settings"] == "RETRIEVAL_K=1"
    # Nothing of it is left in sight of the account.
    notebooks = (await client.get("/notebooks")).json()["items"]
    assert [n["title"] for n in notebooks] == ["Town"]
    assert not (await client.get(f"/notebooks/{notebook}/messages")).json()["items"]


async def test_what_is_wrong_is_said_before_anything_is_asked(
    start: Start, questions: Path
) -> None:
    beleg = await start()
    client = await beleg.user()
    await beleg.notebook(client, "Town")
    email = (await client.get("/me")).json()["email"]
    before = len(beleg.provider.ledger)

    async def told(notebook: str, address: str | None, **changed: str) -> None:
        asked = evaluation.Asked(questions, notebook, address, answers=False, compare=[changed])
        await evaluation.evaluate(asked, environment=beleg.environment)

    with pytest.raises(Rejected, match="'Bridge'"):
        await told("Town", email)
    with pytest.raises(NotFound, match="'Village'"):
        await told("Village", email)
    with pytest.raises(NotFound, match="no account"):
        await told("Town", "nobody@example.org")
    for misspelt_or_idle in ("RETRIEVL_K", "CHUNKER"):
        with pytest.raises(Rejected, match=f"not '{misspelt_or_idle}'"):
            await told("Town", email, **{misspelt_or_idle: "1"})
    with pytest.raises(Rejected, match="--account"):
        await told("Town", None)
    assert len(beleg.provider.ledger) == before
