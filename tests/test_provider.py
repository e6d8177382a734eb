import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from tests.provider import Fault, Provider, Settings, Status

ASKED = {
    "model": "test-chat",
    "messages": [
        {
            "role": "system",
            "content": 'Cite [1].\n<passage n="3" page="2">\nWater is wet. [7]</passage>',
        },
        {"role": "user", "content": "Is it?"},
    ],
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def client(provider: Provider) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=provider.url.removesuffix("/v1")) as opened:
        yield opened


def test_an_answer_quotes_and_cites_the_passages_it_finds(client: httpx.Client) -> None:
    answer = client.post("/v1/chat/completions", json=ASKED).json()
    assert answer["choices"][0]["message"]["content"] == "Water is wet [3]."
    assert answer["usage"]["completion_tokens"] == 6


def test_faults_and_answers_are_set_over_http(client: httpx.Client) -> None:
    rule = {"faults": ["503"], "kind": "chat", "times": 1, "retry_after_s": 7}
    client.post("/control", json={"rules": [rule], "answers": ["As told."]}).raise_for_status()
    busy = client.post("/v1/chat/completions", json=ASKED)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "7")
    told = client.post("/v1/chat/completions", json=ASKED).json()
    assert told["choices"][0]["message"]["content"] == "As told."


@pytest.mark.parametrize(
    "wrong", [{"rulez": []}, {"rules": [{"faults": ["418"]}]}, {"dimension": "x"}]
)
def test_a_wrong_setting_is_refused(client: httpx.Client, wrong: dict[str, object]) -> None:
    assert client.post("/control", json=wrong).status_code == 400


def test_a_reset_forgets_settings_and_ledger(client: httpx.Client, provider: Provider) -> None:
    provider.fail(Fault.ERROR)
    client.post("/v1/chat/completions", json=ASKED)
    client.post("/control", json={"reset": True, "dimension": 8})
    assert provider.settings == Settings(dimension=8)
    assert provider.ledger == []


def test_the_ledger_is_read_and_cleared_over_http(client: httpx.Client) -> None:
    client.post("/v1/embeddings", json={"model": "test-embedding", "input": ["Hund", "Hund"]})
    (entry,) = client.get("/ledger").json()
    assert entry["status"] == Status.SERVED
    assert entry["input_tokens"] == 4
    assert len(set(entry["input_sha1"])) == 1
    client.delete("/ledger")
    assert client.get("/ledger").json() == []


def test_a_prompt_beyond_the_context_is_refused(client: httpx.Client, provider: Provider) -> None:
    provider.settings.context_tokens = 5
    refusal = client.post("/v1/chat/completions", json=ASKED)
    assert refusal.status_code == 400
    assert refusal.json()["error"]["code"] == "context_length_exceeded"


def test_it_serves_as_a_program_and_ends_when_told() -> None:
    command = [sys.executable, "-m", "tests.provider", "--fault-rate", "1", "--faults", "500"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        assert httpx.get(f"{url}/models").status_code == 200
        assert httpx.post(f"{url}/chat/completions", json=ASKED).status_code == 500
        program.terminate()
        assert program.wait(5) == 0
