"""Every operation of the OpenAPI document with what its schema allows, and with what it does not.

BELEG_FUZZ_EXAMPLES is the number of requests for each operation and kind; the more, the longer.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok

from tests.product.stage import Person, Stage

EXAMPLES = int(os.environ.get("BELEG_FUZZ_EXAMPLES", "5"))
LEFT_OUT = {
    "DELETE /api/v1/me",  # nobody is left to ask anything then
}
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
TEXT = "The bridge was built in 1932. It is red and carries many cars every day."


def _things(stage: Stage, person: Person) -> dict[str, str]:
    """An id of each kind of thing, by the name that paths give it."""
    client = person.client
    notebook = person.notebook(TEXT)
    guest = stage.person()
    email = guest.client.get("/me").json()["email"]
    client.post(f"/notebooks/{notebook}/shares", json={"email": email, "role": "ask"})
    return {
        "notebook_id": notebook,
        "source_id": client.get(f"/notebooks/{notebook}/sources").json()["items"][0]["id"],
        "answer_id": person.answer_to(notebook, "When was the bridge built?")["id"],
        "token_id": client.post("/tokens", json={"name": "x"}).json()["id"],
        "invitation_id": client.post("/admin/invitations", json={}).json()["id"],
        "user_id": guest.id,
    }


def _operations(address: str) -> Iterator[APIOperation[Any, Any, Any, Any]]:
    """Those that take things away last."""
    schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json")
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    assert len(found) >= 40
    for operation in sorted(found, key=lambda each: each.method.upper() == "DELETE"):
        if operation.label not in LEFT_OUT:
            yield operation


def _check(case: Case, address: str, session: requests.Session) -> None:
    response = case.call(base_url=address, session=session, timeout=60)
    case.validate_response(response, checks=CHECKS)
    if response.status_code >= 400:
        kind = response.headers["content-type"][0]
        assert kind == "application/problem+json", (case.as_curl_command(), response.status_code)
        told = json.loads(response.content)
        assert told.keys() == {"type", "title", "status", "detail", "code"}
        assert told["status"] == response.status_code
        assert told["detail"]


@pytest.mark.timeout(3600)
def test_no_request_breaks_an_operation_and_every_refusal_is_a_problem(stage: Stage) -> None:
    person = stage.person()
    stage.sql("update users set is_admin = true, credit = 1000 where id = %s", person.id)
    things = _things(stage, person)
    failures: dict[str, str] = {}
    session = requests.Session()
    session.headers["Authorization"] = person.client.headers["Authorization"]
    for operation in _operations(stage.address):
        names = re.findall(r"{(\w+)}", operation.path)
        is_there = operation.method.upper() != "DELETE" and names
        fixed = [{name: things[name] for name in names if name in things}] if is_there else []
        for mode in GenerationMode:
            # Some of it goes to what is there, the rest wherever it likes.
            for parameters in [None, *fixed]:
                if not any((names, operation.query, operation.headers, operation.body)):
                    continue
                cases = operation.as_strategy(generation_mode=mode, path_parameters=parameters)
                try:
                    _fuzz(cases, stage.address, session)
                except (FailureGroup, AssertionError) as failure:
                    failures[operation.label] = str(failure)
    assert not failures, "\n\n".join(failures.values())


def _fuzz(cases: Any, address: str, session: requests.Session) -> None:  # noqa: ANN401 - a strategy
    @given(case=cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize="BELEG_FUZZ_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def fuzz(case: Case) -> None:
        _check(case, address, session)

    fuzz()
