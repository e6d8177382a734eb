"""The straight path through real processes: upload, read, ask, cite."""

from collections.abc import Callable

from tests.conftest import Product, sign_up, until
from tests.provider import Provider

ENVIRONMENT = {
    "INFERENCE_API_KEY": "test",
    "LLM_MODEL": "glm-5.3-flash",
    "EMBEDDING_MODEL": "qwen3-embedding-4b",
    "EMBEDDING_DIMENSION": "64",
}


def test_a_text_becomes_a_source_and_its_sentence_a_citation(
    product: Callable[..., Product],
) -> None:
    with Provider() as provider:
        beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT)
        _, address = beleg.web()
        beleg.worker()
        client = sign_up(address)
        notebook = client.post("/notebooks", json={"title": "Bridges"}).json()["id"]
        text = "The bridge was built in 1932. It is red and carries many cars every day."
        added = client.post(
            f"/notebooks/{notebook}/sources", json={"title": "Bridge", "text": text}
        )
        assert added.status_code == 202
        source = added.json()["id"]
        until(lambda: client.get(f"/sources/{source}").json()["status"] == "ready")

        provider.answer("It was built in 1932 [1].")
        response = client.post(
            f"/notebooks/{notebook}/questions?wait=1", json={"question": "When was it built?"}
        )
        answer = response.json()
        assert response.status_code == 200
        assert answer["status"] == "complete"
        assert answer["text"] == "It was built in 1932 [1]."
        [citation] = answer["citations"]
        [passage] = client.get(f"/sources/{source}/passages").json()
        assert citation["quote"] == "The bridge was built in 1932."
        assert passage["text"][citation["start"] : citation["end"]] == citation["quote"]
        [mention] = citation["mentions"]
        assert answer["text"][mention["answer_start"] : mention["answer_end"]] == "[1]"
