"""Queues, failures, providers, open calls, limits and settings as the JSON API has them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec

from app.structs.accounts import UsageRowOut
from app.structs.sources import SourceOut
from domain.limits import LimitName
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState
from domain.usage import TokenUsage


class QueueOut(msgspec.Struct):
    """A queue: jobs that wait (`due`: that could begin now) and run; how long the oldest waits."""

    name: str
    queued: int
    due: int
    active: int
    oldest_s: float | None

    @classmethod
    def of(cls, state: QueueState) -> "QueueOut":
        """From the domain."""
        return cls(state.name, state.queued, state.due, state.active, state.oldest_s)


class QueuesOut(msgspec.Struct):
    """Every queue."""

    items: list[QueueOut]


class FailedJobOut(msgspec.Struct):
    """Work that failed; `id` is the id of the source or the archive it was for."""

    id: UUID
    kind: str
    owner: str
    title: str
    code: str
    reason: str
    at: datetime

    @classmethod
    def of(cls, job: FailedJob) -> "FailedJobOut":
        """From the domain."""
        return cls(job.id, job.kind, job.owner, job.title, job.code, job.reason, job.at)


class ModelHealthOut(msgspec.Struct):
    """How a model served its last calls of a day."""

    kind: str
    model: str
    calls: int
    served: int
    success_rate: float
    p50_s: float | None
    p95_s: float | None
    last_at: datetime
    last_error: str | None
    last_error_at: datetime | None

    @classmethod
    def of(cls, health: ModelHealth) -> "ModelHealthOut":
        """From the domain."""
        return cls(
            *(health.kind.value, health.model, health.calls, health.served),
            round(health.served / health.calls, 4),
            *(health.p50_s, health.p95_s, health.last_at),
            *(health.last_error, health.last_error_at),
        )


class HealthOut(msgspec.Struct):
    """Every model that was called in the last day."""

    items: list[ModelHealthOut]


class OwnedSourceOut(SourceOut):
    """A source and its owner's address."""

    owner: str

    @classmethod
    def owned(cls, owned: OwnedSource) -> "OwnedSourceOut":
        """From the domain."""
        told = SourceOut.of(owned.source)
        values = {name: getattr(told, name) for name in told.__struct_fields__}
        return cls(**values, owner=owned.owner)


class OpenCallOut(UsageRowOut):
    """A call of unknown end, charged at its upper bound; `owner` is null where the account went."""

    owner: str | None

    @classmethod
    def opened(cls, call: OpenCall) -> "OpenCallOut":
        """From the domain."""
        told = UsageRowOut.of(call.row)
        values = {name: getattr(told, name) for name in told.__struct_fields__}
        return cls(**values, owner=call.owner)


_Used = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class SettleIn(msgspec.Struct, forbid_unknown_fields=True):
    """How the provider's books say that a call ended."""

    served: bool
    input_tokens: _Used = 0
    output_tokens: _Used = 0
    seconds: _Seconds = 0
    characters: _Used = 0

    @property
    def usage(self) -> TokenUsage | None:
        """What it used; None where it was not served."""
        if not self.served:
            return None
        seconds = Decimal(str(self.seconds))
        return TokenUsage(
            *(self.input_tokens, self.output_tokens), seconds=seconds, characters=self.characters
        )


_Amount = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)] | None


class LimitsIn(msgspec.Struct, forbid_unknown_fields=True):
    """Limits of one person; null: the setting's, left out: as it is."""

    max_questions_per_notebook_day: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_file_bytes: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_audio_bytes: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_words_per_source: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_sources_per_notebook: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_running_audio_overviews_per_notebook: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_audio_overviews_per_notebook: _Amount | msgspec.UnsetType = msgspec.UNSET
    max_audio_overviews_per_day: _Amount | msgspec.UnsetType = msgspec.UNSET

    @property
    def amounts(self) -> dict[LimitName, int | None]:
        """Those that are to change."""
        told = {name: getattr(self, name.value) for name in LimitName}
        return {name: value for name, value in told.items() if value is not msgspec.UNSET}


class SettingOut(msgspec.Struct):
    """A setting by its variable's name; secrets only say whether they are set."""

    name: str
    value: str


class SettingsOut(msgspec.Struct):
    """The settings in force."""

    items: list[SettingOut]
