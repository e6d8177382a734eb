"""Every route, as everybody: the table of permissions is what happens, and nothing leaks."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio
from litestar.routes import HTTPRoute

from app.permissions import LEAST_ROLE, RULES, Rule, Who
from app.security import COOKIE, csrf_token
from domain.access import Role, TokenScope, Visitor
from domain.ids import AnswerId, UserId
from tests.app.conftest import Beleg, problem
from tests.app.overviews import written

pytestmark = pytest.mark.asyncio(loop_scope="session")

ADDRESS = "http://beleg.test"
CANARY = "kingfisher"
TEXT = f"The {CANARY} bridge was built in 1932. It is red and carries many cars every day."
UNKNOWN = "0199c0de-0000-7000-8000-000000000000"
MALFORMED = ("x", "0", "%00", "%ff%fe", "a" * 300, "null")
_BODIES = {"grants": {"amount": "1"}, "settle": {"served": False}}
"""What an admin's POST needs to be valid, by the end of its path."""
_RANK = [Role.READ, Role.ASK, Role.OWNER]


@dataclass(frozen=True)
class Person:
    """An account with a token for the API and a session for pages."""

    client: httpx.AsyncClient
    visitor: Visitor
    token: str
    session: str

    @property
    def id(self) -> UserId:
        return self.visitor.user.id


@dataclass(frozen=True)
class Scene:
    """An owner's things, whom they are shared with, and the id of each thing by its name."""

    beleg: Beleg
    people: dict[str, Person]
    ids: dict[str, str]

    async def ask(
        self,
        who: str | None,
        method: str,
        address: str,
        **more: Any,  # noqa: ANN401 - parts of a request
    ) -> httpx.Response:
        """A request as that person makes it: a token for the API, a session for pages."""
        headers = dict(more.pop("headers", {}))
        person = self.people.get(who or "")
        is_api = address.startswith("/api/")
        if not is_api:
            headers |= {"accept": "text/html", "sec-fetch-site": "same-origin"}
        if person and is_api:
            headers.setdefault("authorization", f"Bearer {person.token}")
        elif person:
            headers["cookie"] = f"{COOKIE}={person.session}"
            if method == "POST":
                more["data"] = {"csrf": csrf_token(person.session)}
        client = await self.beleg.client()
        return await client.request(method, ADDRESS + address, headers=headers, **more)


async def _person(beleg: Beleg) -> Person:
    client = await beleg.user()
    token = client.headers["authorization"].removeprefix("Bearer ")
    visitor = await beleg.services.accounts.by_token(token)
    assert visitor is not None
    return Person(client, visitor, token, await beleg.services.accounts.open_session(visitor.user))


@pytest_asyncio.fixture(loop_scope="session")
async def scene(beleg: Beleg) -> AsyncIterator[Scene]:
    names = ("owner", "asker", "reader", "stranger", "admin")
    people = {name: await _person(beleg) for name in names}
    async with beleg.services.accounts.uow() as tx:
        for name, person in people.items():
            await tx.accounts.set_admin(person.id, is_admin=name == "admin")
    owner = people["owner"].client
    notebook = await beleg.notebook(owner, f"{CANARY} bridges")
    source = await beleg.text(owner, notebook, TEXT, f"{CANARY} paper")
    for role in ("ask", "read"):
        guest = people["asker" if role == "ask" else "reader"]
        body = {"email": guest.visitor.user.email, "role": role}
        assert (await owner.post(f"/notebooks/{notebook}/shares", json=body)).status_code == 201
    beleg.provider.answer(f"It was built in 1932, says the {CANARY} [1].")
    question = {"question": f"When was the {CANARY} built?"}
    answer = await owner.post(f"/notebooks/{notebook}/questions?wait=1", json=question)
    me = people["owner"].visitor.user
    cites = (await beleg.services.answers.get(me, AnswerId(UUID(answer.json()["id"])))).citations
    sessions = (await owner.get("/me/sessions")).json()["items"]
    ids = {
        "notebook_id": notebook,
        "source_id": source,
        "answer_id": answer.json()["id"],
        "document_id": await written(beleg, me.id, notebook, f"The {CANARY}.", cites),
        "token_id": (await owner.get("/tokens")).json()["items"][0]["id"],
        "session_id": sessions[0]["id"],
        "user_id": str(people["asker"].id),
        "invitation_id": str(uuid4()),
        "export_id": await _exported(people["owner"], beleg),
        "job_id": str(uuid4()),
        "call_id": str(uuid4()),
        "page": "1",
        "marker": "1",
    }
    yield Scene(beleg, people, ids)


async def _exported(person: Person, beleg: Beleg) -> str:
    user, exports = person.visitor.user, beleg.services.export_account
    export = await exports.request(user, peer="")
    await exports(user.id, export.id)
    return str(export.id)


def _rows(*, api: bool | None = None) -> Iterator[tuple[str, str, Rule]]:
    for (method, path), rule in RULES.items():
        if rule.who is not Who.ANYONE and api in {None, path.startswith("/api/")}:
            yield method, path, rule


def _filled(path: str, ids: dict[str, str]) -> str:
    for name in re.findall(r"{(\w+)}", path):
        assert name in ids, f"the scene has no {name}: give it one of the owner's"
        path = path.replace(f"{{{name}}}", ids[name])
    return f"{path}?start=0&end=1" if path.endswith("/highlights") else path


def _refusal(rule: Rule, path: str, role: Role | None) -> int | None:
    """What the table lets somebody with that role on the path's thing expect; None: let pass."""
    if rule.who is Who.ADMIN:
        return 403
    if rule.who is Who.ACCOUNT:
        return 404 if "{" in path else None
    if role is None:
        return 404
    return 403 if _RANK.index(role) < _RANK.index(LEAST_ROLE[rule.who]) else None


def _role(who: str, path: str) -> Role | None:
    """What they are to the first thing that a path names, which is the owner's."""
    if "{answer_id}" in path:
        return Role.OWNER if who == "owner" else None
    if who == "asker":  # of a source one may not ask, but read it
        return Role.READ if path.startswith(("/sources", "/api/v1/sources")) else Role.ASK
    return {"owner": Role.OWNER, "reader": Role.READ}.get(who)


def _is_refused(response: httpx.Response, status: int, where: object) -> None:
    assert response.status_code == status, (where, status, response.text[:300])
    assert CANARY not in response.text, where
    if str(response.request.url).startswith(f"{ADDRESS}/api/"):
        problem(
            response, status, {404: "not_found", 403: "forbidden", 401: "not_signed_in"}[status]
        )


async def _state(scene: Scene) -> list[Any]:
    """What the owner has."""
    notebook, owner = scene.ids["notebook_id"], scene.people["owner"].client
    paths = (
        *(f"/notebooks/{notebook}", f"/notebooks/{notebook}/sources", "/sources", "/tokens"),
        *(f"/notebooks/{notebook}/messages", f"/notebooks/{notebook}/shares", "/me"),
        f"/notebooks/{notebook}/documents",
    )
    told = [(await owner.get(path)).json() for path in paths]
    told[3] = [token["id"] for token in told[3]["items"]]
    return told


async def test_the_table_names_every_route_and_no_other(beleg: Beleg) -> None:
    routes = [route for route in beleg.app.routes if isinstance(route, HTTPRoute)]
    assert len(routes) == len(beleg.app.routes)
    named = {(method, route.path_format) for route in routes for method in route.methods}
    assert {row for row in named if row[0] != "OPTIONS"} == set(RULES)


async def test_nobody_is_let_in_anywhere(scene: Scene) -> None:
    before = await _state(scene)
    for method, path, _ in _rows():
        response = await scene.ask(None, method, _filled(path, scene.ids))
        if path.startswith("/api/"):
            _is_refused(response, 401, (method, path))
            assert response.headers["www-authenticate"] == "Bearer"
        else:
            assert response.status_code == 303, (method, path)
            assert response.headers["location"].startswith("/sign-in"), (method, path)
            assert CANARY not in response.text
    assert await _state(scene) == before


@pytest.mark.parametrize("who", ["stranger", "reader", "asker"])
async def test_others_get_as_far_as_the_table_says(scene: Scene, who: str) -> None:
    before, walked = await _state(scene), 0
    for method, path, rule in _rows():
        expected = _refusal(rule, path, _role(who, path))
        if expected:
            response = await scene.ask(who, method, _filled(path, scene.ids))
            _is_refused(response, expected, (who, method, path))
            walked += 1
        elif method == "GET" and not path.endswith("/events"):
            response = await scene.ask(who, method, _filled(path, scene.ids))
            # A text has no pages and no sound; everything else is there, or at its own page.
            is_let_in = response.status_code < 400 or "/pages/" in path or "/sound" in path
            assert is_let_in, (who, method, path, response.text)
            assert not response.headers.get("location", "").startswith("/sign-in"), path
            if who == "stranger":
                assert CANARY not in response.text, (method, path)
    assert walked >= 30
    assert await _state(scene) == before


@pytest.mark.parametrize("who", ["owner", "asker", "stranger"])
@pytest.mark.parametrize("wrong", [*MALFORMED, UNKNOWN])
async def test_ids_that_name_nothing_are_not_found(scene: Scene, who: str, wrong: str) -> None:
    names = [name for name in scene.ids if name.endswith("_id")]
    ids = scene.ids | dict.fromkeys(names, wrong)
    for method, path, rule in _rows():
        if "_id}" in path and rule.who is not Who.ADMIN:
            response = await scene.ask(who, method, _filled(path, ids))
            _is_refused(response, 404, (who, method, path))


@pytest.mark.parametrize("wrong", [*MALFORMED, UNKNOWN])
async def test_the_second_id_of_a_path_is_looked_at_too(scene: Scene, wrong: str) -> None:
    for method, path, _ in _rows():
        if path.count("_id}") > 1:
            second = re.findall(r"{(\w+_id)}", path)[1]
            response = await scene.ask("owner", method, _filled(path, scene.ids | {second: wrong}))
            _is_refused(response, 404, (method, path))


@pytest.mark.parametrize("scope", list(TokenScope))
async def test_a_token_gets_as_far_as_its_scope(scene: Scene, scope: TokenScope) -> None:
    owner = scene.people["owner"].visitor.user
    accounts = scene.beleg.services.accounts
    _, token = await accounts.add_token(owner, "narrow", frozenset({scope}))
    headers = {"authorization": f"Bearer {token}"}
    for method, path, rule in _rows(api=True):
        address = _filled(path, scene.ids)
        allowed = {scope, TokenScope.READ}
        if rule.scope not in allowed or rule.who is Who.ADMIN:
            response = await scene.ask("owner", method, address, headers=headers)
            _is_refused(response, 403, (scope, method, path))
        elif method == "GET":
            response = await scene.ask("owner", method, address, headers=headers)
            assert response.is_success or "/pages/" in path, (method, path, response.text)


async def test_the_admin_s_addresses_are_for_an_admin_with_that_scope(scene: Scene) -> None:
    admin = scene.people["admin"]
    narrow = frozenset({TokenScope.READ, TokenScope.ASK, TokenScope.WRITE})
    _, token = await scene.beleg.services.accounts.add_token(admin.visitor.user, "n", narrow)
    headers = {"authorization": f"Bearer {token}"}
    for method, path, rule in _rows():
        if rule.who is not Who.ADMIN:
            continue
        for wrong in MALFORMED if "_id}" in path else ():
            ids = dict.fromkeys(scene.ids, wrong)
            body: dict[str, Any] = _BODIES.get(path.rpartition("/")[2], {})
            response = await scene.ask("admin", method, _filled(path, ids), json=body)
            _is_refused(response, 404, (method, path))
        if rule.scope:
            refused = await scene.ask("admin", method, _filled(path, scene.ids), headers=headers)
            _is_refused(refused, 403, (method, path))
        if method == "GET":
            assert (await scene.ask("admin", method, _filled(path, scene.ids))).is_success


async def test_an_admin_is_a_stranger_to_what_others_have(scene: Scene) -> None:
    for method, path, rule in _rows():
        if rule.who in LEAST_ROLE:
            response = await scene.ask("admin", method, _filled(path, scene.ids))
            _is_refused(response, 404, (method, path))


@pytest.mark.parametrize("how", ["revoked", "expired", "unknown", "shut"])
async def test_a_token_that_does_not_count_is_nobody_s(scene: Scene, how: str) -> None:
    person = await _person(scene.beleg)
    accounts, token = scene.beleg.services.accounts, person.token
    if how == "revoked":
        assert person.visitor.token_id
        await scene.beleg.services.credentials.end_token(
            person.visitor.user, person.visitor.token_id
        )
    elif how == "expired":
        soon = accounts.clock.now() + timedelta(milliseconds=20)
        _, token = await accounts.add_token(person.visitor.user, "short", expires_at=soon)
        await accounts.clock.sleep(0.05)
    elif how == "shut":
        admin = scene.people["admin"].visitor.user
        await scene.beleg.services.administer.change(admin, person.id, is_disabled=True)
    else:
        token = "blg_unknown"
    headers = {"authorization": f"Bearer {token}"}
    for method, path, _ in _rows(api=True):
        response = await scene.ask(None, method, _filled(path, scene.ids), headers=headers)
        _is_refused(response, 401, (how, method, path))


async def test_ids_of_others_in_bodies_and_queries_are_nobody_s(scene: Scene) -> None:
    ids, beleg = scene.ids, scene.beleg
    chunk = (await scene.people["owner"].client.get(f"/answers/{ids['answer_id']}")).json()
    chunk_id = chunk["retrieved"][0]["chunk_id"]
    for who, linked in (("stranger", 404), ("reader", 403), ("asker", 403)):
        client = scene.people[who].client
        own = await beleg.notebook(client)
        mine = await beleg.text(client, own, f"The tower of {who} was built in 1950 by hand.")
        body: dict[str, Any] = {"source_id": ids["source_id"]}
        assert (await client.post(f"/notebooks/{own}/sources", json=body)).status_code == linked
        for chosen in ([ids["source_id"]], ["x", ids["source_id"]], [ids["notebook_id"], "\0"]):
            body = {"query": f"When was the {CANARY} built?", "source_ids": chosen}
            found = await client.post(f"/notebooks/{own}/search", json=body)
            assert found.json() == {"results": []}
        for about in (ids["source_id"], ids["answer_id"], "x", "\0"):
            body = {"question": "When was it built?", "about": about}
            told = await client.post(f"/notebooks/{own}/questions?wait=1", json=body)
            assert told.json()["retrieved"] == []
            assert CANARY not in told.text
        path = f"/sources/{mine}/pages/1/highlights?chunk_id={chunk_id}"
        problem(await client.get(path), 404, "not_found")
        for path in ("/notebooks", "/sources", "/tokens", "/usage?rows=1", "/me/sessions"):
            sign = "&" if "?" in path else "?"
            for cursor in (str(UUID(int=0)), ids["source_id"], ids["notebook_id"]):
                listed = await client.get(f"{path}{sign}cursor={cursor}")
                shared = who != "stranger" and path == "/notebooks"
                assert shared or CANARY not in listed.text
        key = {"Idempotency-Key": "one"}
        body = {"question": f"When was the {CANARY} built?"}
        asked = [
            await scene.people[name].client.post(
                f"/notebooks/{ids['notebook_id']}/questions", json=body, headers=key
            )
            for name in ("owner", who)
        ]
        assert asked[1].status_code == {"stranger": 404, "reader": 403}.get(who, 201)
        assert asked[1].json().get("answer_id") != asked[0].json()["answer_id"]


async def test_a_guest_lets_out_nobody_else(scene: Scene) -> None:
    where = f"/notebooks/{scene.ids['notebook_id']}/shares"
    reader, asker = scene.people["reader"], scene.people["asker"]
    problem(await reader.client.delete(f"{where}/{asker.id}"), 403, "forbidden")
    page = await scene.ask("reader", "POST", f"{where}/{asker.id}/remove")
    assert page.status_code == 403
    assert (await reader.client.delete(f"{where}/{reader.id}")).status_code == 204
    problem(await reader.client.get(f"/notebooks/{scene.ids['notebook_id']}"), 404, "not_found")
