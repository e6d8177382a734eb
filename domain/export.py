"""A whole account in one archive: its state, and what stands in its files."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from domain.account import ApiToken, User
from domain.audit import AuditEntry
from domain.conversation import Answer, Citation
from domain.document import Document
from domain.ids import ExportId, UserId
from domain.ledger import UsageRow
from domain.notebook import Notebook, Share
from domain.passage import Passage
from domain.retrieval import Hit
from domain.source import Source

FORMAT, FORMAT_VERSION = "beleg-export", 1
EXPORT_LIFETIME = timedelta(days=7)
_LONGEST_NAME, _LONGEST_ENDING = 140, 20  # bytes: file systems count them, and take 143 or more
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # on Windows
READ_ME = """\
This is everything that Beleg kept for one account.

manifest.json                format, version, account, time, and how many of each there are
account.json                 the account, its preferences and tokens (without their secrets)
notebooks.json               notebooks with their guests and the ids of their sources
sources/<id>/source.json     what is known of a source, its summary among it
sources/<id>/passages.json   its text, a passage a page
sources/<id>/original/       the file as it was added
chats/<notebook id>.json     questions, answers, citations and what was retrieved, newest first
documents/<id>/document.json what was made of sources: its text, citations, what it was made of
documents/<id>/audio.mp3     the recording of an audio overview
usage.json                   every model call and what it cost in USD
audit.json                   acts of the account that matter to security, newest first

A citation's start and end count Unicode code points of the passage's text.

The account could be used while the archive was made (manifest.json: from asked_at to made_at). Each
file tells how things were when it was written, so one may name what another does not hold.
"""


class ExportStatus(StrEnum):
    """Where an export stands."""

    QUEUED = "queued"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Export:
    """An archive of a whole account.

    Args:
        bytes: of the archive, all its parts; None until it is ready.
        error: why there is none; one sentence.
        expires_at: when archive and entry go.
    """

    id: ExportId
    user_id: UserId
    status: ExportStatus
    bytes: int | None
    error: str | None
    created_at: datetime
    expires_at: datetime

    @property
    def file_name(self) -> str:
        """What it is called when it is downloaded."""
        return f"beleg-{self.created_at:%Y-%m-%d}.zip"


@dataclass(frozen=True, slots=True)
class ExportPart:
    """A part of an archive that is made and kept; all of them, joined in order, are the archive.

    Args:
        name: of the step that made it.
        key: where the storage keeps it.
        size: in bytes.
        directory: what the archive's end has to tell of its files, as the archiver wrote it.
        counts: how many there are of what the manifest counts.
    """

    name: str
    key: str
    size: int
    directory: bytes
    counts: Mapping[str, int]


def key_prefix(user_id: UserId, export_id: ExportId) -> str:
    """How the storage keys of an archive's parts begin: prefixed by its owner."""
    return f"{user_id}/export-{export_id}"


def part_key(export: Export, number: int, attempt: int) -> str:
    """The storage key of a part: two runs never write to the same one."""
    return f"{key_prefix(export.user_id, export.id)}-{number}-{attempt}"


def manifest(
    user: User, export: Export, parts: Sequence[ExportPart], now: datetime
) -> dict[str, Any]:
    """What an archive is, and how many of each there are in it."""
    counts = Counter({"notebooks": 0, "sources": 0, "answers": 0, "documents": 0, "calls": 0})
    for part in parts:
        counts.update(part.counts)
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "account": user.email,
        "asked_at": export.created_at,
        "made_at": now,
        **counts,
    }


def original_name(source: Source) -> str:
    """The name of a source's file in the archive: one that any file system takes."""
    name = "".join(
        c if c.isprintable() and c not in '\\/:*?"<>|' else "_" for c in source.file_name
    )
    name = name.strip(" .") or "file"
    if _DEVICE.match(name):
        name = f"_{name}"
    _, dot, ending = name.rpartition(".")
    ending = dot + ending if dot and len(ending.encode()) < _LONGEST_ENDING else ""
    stem = name.removesuffix(ending).encode()[: _LONGEST_NAME - len(ending.encode())]
    return (stem.decode(errors="ignore") + ending).rstrip(" .")


def to_json(value: object) -> bytes:
    """JSON that a person can read, too."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain).encode()


def account_entry(user: User, tokens: list[ApiToken]) -> dict[str, Any]:
    """The account itself."""
    return {
        "id": user.id,
        "email": user.email,
        "is_admin": user.is_admin,
        "created_at": user.created_at,
        "credit": user.credit,
        "preferences": {"pdf_capture": user.pdf_capture, "language": user.language},
        "tokens": [asdict(token) for token in tokens],
    }


def notebook_entry(
    notebook: Notebook, sources: list[Source], shares: list[Share]
) -> dict[str, Any]:
    """A notebook; of one that is shared with the account its guests are not told."""
    return {
        "id": notebook.id,
        "owner": notebook.owner,
        "role": notebook.role,
        "title": notebook.title,
        "language": notebook.language,
        "created_at": notebook.created_at,
        "source_ids": [source.id for source in sources],
        "shares": [
            {"email": share.email, "role": share.role, "created_at": share.created_at}
            for share in shares
        ],
    }


def source_entry(source: Source) -> dict[str, Any]:
    """What is known of a source."""
    entry = asdict(source)
    for inner in ("owner_id", "attempt", "progress"):
        del entry[inner]
    return entry | {"sha256": source.sha256.hex(), "original": original_name(source)}


def passage_entry(passage: Passage) -> dict[str, Any]:
    """A passage of a source."""
    return {"page": passage.page, "label": passage.label, "text": passage.text}


def answer_entry(answer: Answer) -> dict[str, Any]:
    """A question and its answer."""
    cited = {citation.rank for citation in answer.citations}
    entry = asdict(answer)
    for inner in ("user_id", "citations", "retrieved"):
        del entry[inner]
    return entry | {
        "citations": [_citation_entry(citation) for citation in answer.citations],
        "retrieved": [_hit_entry(hit, cited=hit.rank in cited) for hit in answer.retrieved],
    }


def document_entry(document: Document) -> dict[str, Any]:
    """What was made of sources."""
    entry = asdict(document)
    for inner in ("owner_id", "attempt", "progress", "is_titled", "citations"):
        del entry[inner]
    return entry | {
        "citations": [_citation_entry(citation) for citation in document.citations],
    }


def _citation_entry(citation: Citation) -> dict[str, Any]:
    first = citation.mentions[0]
    return asdict(citation) | {"quote": first.quote, "start": first.start, "end": first.end}


def _hit_entry(hit: Hit, *, cited: bool) -> dict[str, Any]:
    return asdict(hit) | {"end": hit.start + len(hit.text), "cited": cited}


def usage_entry(row: UsageRow) -> dict[str, Any]:
    """A model call."""
    return asdict(row)


def audit_entry(entry: AuditEntry) -> dict[str, Any]:
    """An act."""
    return asdict(entry) | {"detail": dict(entry.detail)}


def _plain(value: object) -> object:
    match value:
        case Decimal():
            return f"{value.normalize():f}"
        case datetime():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
