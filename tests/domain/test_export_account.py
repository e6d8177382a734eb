"""An archive made in parts: whatever run is killed wherever, each part is made once and kept."""

import io
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import BinaryIO, cast

import pytest

from domain.account import User
from domain.account_contents import Counts, Step, once
from domain.errors import NotFound, Unavailable
from domain.export import Export, ExportPart, ExportStatus
from domain.ids import ExportId, UserId, new_id
from domain.ports import Archiver, BlobStore, Clock, FinishedPart, OpenPart
from domain.stores import Stores, UnitOfWork
from domain.usecases.export_account import ExportAccount

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAMES = ("account", "source 1", "source 2", "usage")
WHOLE = b"account.source 1.source 2.usage.manifest.json|4"


class KilledError(Exception):
    """The end of a process."""


@dataclass
class Death:
    """When the process ends: at which moment, after how many times of it."""

    moment: str = ""
    countdown: int = 0

    def at(self, moment: str) -> None:
        if moment == self.moment:
            self.countdown -= 1
            if self.countdown < 0:
                self.moment = ""
                raise KilledError


@dataclass
class Files:
    """The storage."""

    death: Death
    kept: dict[str, bytes] = field(default_factory=dict)

    async def put(self, key: str, content: BinaryIO) -> None:
        assert key not in self.kept
        self.death.at("made")
        self.kept[key] = content.read()
        self.death.at("kept")

    async def delete(self, key: str) -> None:
        self.kept.pop(key, None)

    async def keys(self, prefix: str) -> list[str]:
        return [key for key in self.kept if key.startswith(prefix)]

    async def stream(self, key: str) -> AsyncGenerator[bytes, None]:
        yield self.kept[key]


class Joined:
    """An archiver whose archives are the names of their files, and the number of parts."""

    @asynccontextmanager
    async def part(self, first: int) -> AsyncIterator["Joined"]:  # noqa: ARG002 - the port's
        self.content = b""
        yield self

    async def add(self, name: str, blocks: AsyncIterable[bytes]) -> None:
        assert [block async for block in blocks]
        self.content += name.encode()

    async def finished(self, before: Sequence[bytes] | None = None) -> FinishedPart:
        self.content += b"." if before is None else f"|{len(before)}".encode()
        return FinishedPart(len(self.content), io.BytesIO(self.content), b"")


@dataclass
class Rows:
    """The one export and its account, as the stores keep them."""

    death: Death
    export: Export | None
    user: User
    attempt: int = 0
    tries: int = 0
    is_added: bool = False
    made: list[ExportPart] = field(default_factory=list)

    @property
    def exports(self) -> "Rows":
        return self

    @property
    def accounts(self) -> "Accounts":
        return Accounts(self.user)

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:  # noqa: ARG002 - the port's
        yield cast("Stores", self)
        if self.is_added:
            self.is_added = False
            self.death.at("recorded")

    async def get(self, _: ExportId) -> Export | None:
        return self.export

    async def begin(self, _: ExportId) -> tuple[int, int] | None:
        if self.export is None or self.export.status is not ExportStatus.QUEUED:
            return None
        self.attempt, self.tries = self.attempt + 1, self.tries + 1
        return self.attempt, self.tries

    async def parts(self, _: ExportId) -> list[ExportPart]:
        return list(self.made)

    async def add_part(self, _: ExportId, attempt: int, number: int, part: ExportPart) -> bool:
        if self.export is None or attempt != self.attempt:
            return False
        assert number == len(self.made)
        assert part.name not in {one.name for one in self.made}
        self.made.append(part)
        self.tries = 0
        self.is_added = True
        return True

    async def finish(self, _: ExportId, size: int) -> None:
        assert self.export
        self.export = replace(self.export, status=ExportStatus.READY, bytes=size)

    async def fail(self, _: ExportId, error: str) -> None:
        assert self.export
        self.export = replace(self.export, status=ExportStatus.FAILED, error=error)
        self.made.clear()

    async def expired(self) -> list[Export]:
        return [self.export] if self.export else []

    async def forget(self, _: ExportId) -> None:
        self.export = None
        self.made.clear()


@dataclass
class Accounts:
    """Of one account."""

    user: User

    async def get(self, _: UserId) -> User:
        return self.user


@dataclass(frozen=True)
class Now:
    """It is always the same time."""

    def now(self) -> datetime:
        return NOW


@dataclass
class Trial:
    """An export that waits, and every step that any run began."""

    death: Death = field(default_factory=Death)
    begun: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[None]] | None = None
    files: Files = field(init=False)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        user = User(UserId(new_id()), "ada@example.org", False, "auto", "en", Decimal(1), NOW)  # noqa: FBT003 - no admin
        export = Export(
            *(ExportId(new_id()), user.id, ExportStatus.QUEUED, None, None),
            *(NOW, NOW + timedelta(days=7)),
        )
        self.files = Files(self.death)
        self.rows = Rows(self.death, export, user)
        self.user_id, self.export_id = user.id, export.id

    async def steps(self, _: User) -> AsyncGenerator[Step, None]:
        for name in NAMES:
            yield Step(name, partial(self._fill, name))

    async def _fill(self, name: str, part: OpenPart) -> Counts:
        self.begun.append(name)
        await part.add(name, once(b"x"))
        if name == "source 1" and self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return {"sources": 1} if name.startswith("source") else {}

    @property
    def exports(self) -> ExportAccount:
        """As a new process has it."""
        return ExportAccount(
            cast("UnitOfWork", self.rows.uow),
            cast("BlobStore", self.files),
            cast("Archiver", Joined()),
            cast("Clock", Now()),
            self.steps,
        )

    async def run(self) -> None:
        await self.exports(self.user_id, self.export_id)

    async def archive(self) -> bytes:
        export, blocks = await self.exports.download(self.rows.user, self.export_id)
        whole = b"".join([block async for block in blocks])
        assert len(whole) == export.bytes
        assert set(self.files.kept) == {part.key for part in self.rows.made}, "and nothing else"
        return whole


async def test_parts_in_order_are_the_archive() -> None:
    trial = Trial()
    await trial.run()
    assert await trial.archive() == WHOLE
    assert trial.begun == [*NAMES]
    await trial.run()
    assert trial.begun == [*NAMES], "nothing is left to make"


@pytest.mark.parametrize("after", range(5))
@pytest.mark.parametrize(
    ("moment", "is_lost"), [("made", True), ("kept", True), ("recorded", False)]
)
async def test_a_run_goes_on_where_another_was_killed(
    moment: str, after: int, *, is_lost: bool
) -> None:
    trial = Trial()
    trial.death.moment, trial.death.countdown = moment, after
    with pytest.raises(KilledError):
        await trial.run()
    await trial.run()
    assert await trial.archive() == WHOLE
    lost = [name for n, name in enumerate(NAMES) if n == after and is_lost]
    assert sorted(trial.begun) == sorted([*NAMES, *lost]), "each once, but for what was lost"


async def test_an_archive_comes_about_however_often_runs_are_killed() -> None:
    trial = Trial()
    for _ in NAMES:  # each run makes one part, more of them than tries without a new part
        for _ in range(3):
            trial.death.moment, trial.death.countdown = "made", 0
            with pytest.raises(KilledError):
                await trial.run()
        trial.death.moment, trial.death.countdown = "recorded", 0
        with pytest.raises(KilledError):
            await trial.run()
    await trial.run()
    assert await trial.archive() == WHOLE


async def test_of_two_runs_the_newer_one_makes_the_archive() -> None:
    trial = Trial()
    trial.meanwhile = trial.run
    await trial.run()
    assert await trial.archive() == WHOLE
    assert trial.begun == ["account", "source 1", "source 1", "source 2", "usage"]


async def test_the_older_of_two_runs_ends_at_its_next_part() -> None:
    trial = Trial()

    async def killed_run() -> None:
        trial.death.moment, trial.death.countdown = "recorded", 0
        with pytest.raises(KilledError):
            await trial.run()

    trial.meanwhile = killed_run
    await trial.run()
    assert trial.begun == ["account", "source 1", "source 1"]
    assert len(trial.files.kept) == len(trial.rows.made) == 2
    await trial.run()
    assert await trial.archive() == WHOLE


async def test_nothing_stays_of_an_archive_whose_time_has_come() -> None:
    trial = Trial()
    trial.death.moment, trial.death.countdown = "kept", 2
    with pytest.raises(KilledError):
        await trial.run()
    assert len(trial.files.kept) == 3
    await trial.exports.expire()
    assert trial.files.kept == {}
    with pytest.raises(NotFound):
        await trial.archive()


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_run_whose_export_goes_meanwhile_leaves_nothing(*, is_killed: bool) -> None:
    trial = Trial()

    async def expire() -> None:
        await trial.exports.expire()
        if is_killed:
            trial.death.moment = "kept"

    trial.meanwhile = expire
    if is_killed:
        with pytest.raises(KilledError):
            await trial.run()
        assert trial.files.kept
    await trial.run()  # the job's next run
    assert trial.files.kept == {}


async def test_an_archive_is_given_up_where_no_run_adds_a_part() -> None:
    trial = Trial()
    for n in range(9):
        trial.death.moment, trial.death.countdown = "kept", 0 if n else 1
        with pytest.raises(KilledError):
            await trial.run()
    trial.death.moment = ""
    await trial.run()
    assert trial.rows.export
    assert trial.rows.export.status is ExportStatus.FAILED
    assert trial.files.kept == {}
    with pytest.raises(Unavailable, match="Ask for a new one"):
        await trial.archive()
