"""Create, list, change and delete notebooks."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from domain.access import Role
from domain.account import User
from domain.errors import NotFound, Rejected
from domain.ids import NotebookId
from domain.notebook import Notebook
from domain.stores import Page, UnitOfWork
from domain.text_gate import clean

_MAX_TITLE = 300
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True, slots=True)
class ManageNotebooks:
    """What a person does with notebooks.

    Args:
        delete_documents: deletes what was made from a notebook's sources.
    """

    uow: UnitOfWork
    delete_documents: Callable[[User, NotebookId], Awaitable[None]]

    async def create(self, user: User, title: str, language: str = "") -> Notebook:
        """A new, empty notebook."""
        async with self.uow() as tx:
            return await tx.notebooks.add(user.id, _title(title), _language(language))

    async def get(
        self, user: User, notebook_id: NotebookId, *, at_least: Role = Role.READ
    ) -> Notebook:
        """One notebook.

        Raises:
            NotFound: that user may not see it.
            Forbidden: their role there is less than `at_least`.
        """
        async with self.uow() as tx:
            notebook = await tx.notebooks.get(notebook_id, user.id, at_least=at_least)
        if notebook is None:
            raise NotFound("There is no such notebook.")
        return notebook

    async def page(self, user: User, *, limit: int, after: UUID | None) -> Page[Notebook]:
        """That user's notebooks and those that are shared with them, newest first."""
        async with self.uow() as tx:
            return await tx.notebooks.page(user.id, limit=limit, after=after)

    async def change(
        self,
        user: User,
        notebook_id: NotebookId,
        *,
        title: str | None = None,
        language: str | None = None,
    ) -> Notebook:
        """Rename it, or set its language."""
        await self.get(user, notebook_id, at_least=Role.OWNER)
        async with self.uow() as tx:
            await tx.notebooks.change(
                notebook_id,
                title=None if title is None else _title(title),
                language=None if language is None else _language(language),
            )
        return await self.get(user, notebook_id)

    async def delete(self, user: User, notebook_id: NotebookId) -> None:
        """Remove it with its questions, answers and documents; its sources stay in the library."""
        await self.get(user, notebook_id, at_least=Role.OWNER)
        while not await self._delete(user, notebook_id):
            pass

    async def _delete(self, user: User, notebook_id: NotebookId) -> bool:
        """False where a document was made at this moment."""
        await self.delete_documents(user, notebook_id)
        async with self.uow() as tx:
            await tx.documents.hold_notebook(notebook_id)
            made = await tx.documents.page(notebook_id, limit=1, after=None)
            if not made.items:
                await tx.notebooks.delete(notebook_id)
        return not made.items


def _language(tag: str) -> str:
    if tag and not _LANGUAGE.fullmatch(tag):
        raise Rejected("language is a tag such as de or en, or nothing.")
    return tag


def _title(title: str) -> str:
    text = " ".join(clean(title).split())
    if not text:
        raise Rejected("A notebook needs a title.")
    if len(text) > _MAX_TITLE:
        raise Rejected(f"A title has at most {_MAX_TITLE} characters.")
    return text
