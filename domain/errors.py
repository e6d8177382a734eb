"""What can go wrong, as a tree.

BelegError
├── NotFound                 the thing does not exist, or is not yours
├── Expired                  it was there for a time, which is over
├── NotSignedIn              no session and no valid token
├── Forbidden                yours to see, not to do
│   └── WrongPassword        signed in, but not proven once more
├── Conflict                 the state does not allow it
├── Rejected                 the request is malformed
│   ├── UnsupportedType
│   ├── AddressRefused       a web address that may not be fetched
│   └── TooLarge
├── OutOfCredit
├── OverQuota
├── TooManyAttempts          passwords were guessed too often
├── Unreachable              a web address that did not give its page
├── Unreadable               a file that no reader can turn into passages
│   ├── PasswordNeeded       it is locked, and was not opened
│   └── NotSetUp             what would read it is not set up here
├── ModelError               a model call went wrong
│   ├── ModelUnavailable     may work later: retried
│   ├── ModelRefused         will not work later: bad key, unknown model, bad request
│   ├── AnswerTooLong        whole as far as the model's limit goes
│   ├── ModelCut             the answer broke off; what arrived was paid for
│   └── ModelAnswerInvalid   an answer that cannot be used; it was paid for
└── Unavailable              a part of the product is not ready; try again

The docstring is the default message. `code` is stable: clients may rely on it.
"""

from dataclasses import dataclass

from domain.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as it is stored and shown: a stable code and a sentence."""

    code: str
    detail: str


class BelegError(Exception):
    """Something went wrong."""

    code = "error"

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())

    @property
    def message(self) -> str:
        """One or two sentences for a person: what happened and what to do."""
        return str(self.args[0])

    @property
    def problem(self) -> Problem:
        """This error, to be stored and shown."""
        return Problem(self.code, self.message)


class NotFound(BelegError):
    """There is nothing here under that address."""

    code = "not_found"


class Expired(BelegError):
    """This was there for a time, which is over."""

    code = "expired"


class NotSignedIn(BelegError):
    """Sign in first: send a bearer token, or sign in on the page."""

    code = "not_signed_in"


class Forbidden(BelegError):
    """You may not do this."""

    code = "forbidden"


class WrongPassword(Forbidden):
    """The password is wrong."""

    code = "wrong_password"


class Conflict(BelegError):
    """The current state does not allow this."""

    code = "conflict"


class Rejected(BelegError):
    """The request is not valid."""

    code = "invalid_request"


class UnsupportedType(Rejected):
    """Files of this type cannot be read yet. Readable are PDF, plain text and Markdown."""

    code = "unsupported_type"


class AddressRefused(Rejected):
    """This is not the address of a public web page."""

    code = "address_refused"


class TooLarge(Rejected):
    """This is larger than the limit."""

    code = "too_large"


class OutOfCredit(BelegError):
    """Your credit does not cover this call. Ask the admin for more."""

    code = "credit_exhausted"


class OverQuota(BelegError):
    """Today's questions in this notebook are used up. Try again tomorrow."""

    code = "quota_exhausted"

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds until it is worth another try; None for midnight (UTC)."""


class TooManyAttempts(BelegError):
    """Too many attempts failed. Wait some minutes, then try again."""

    code = "too_many_attempts"

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds until the next attempt is let through."""


class Unreachable(BelegError):
    """This web address did not answer with a page. Try again later."""

    code = "unreachable"


class Unreadable(BelegError):
    """No text could be read from this file."""

    code = "unreadable"


class PasswordNeeded(Unreadable):
    """This file is protected by a password."""

    code = "password_needed"


class NotSetUp(Unreadable):
    """What would read this file is not set up here."""

    code = "not_set_up"


class Unavailable(BelegError):
    """This is not ready right now. Try again in a moment."""

    code = "unavailable"


class ModelError(BelegError):
    """The model did not answer."""

    code = "model_error"

    def __init__(self, message: str = "", *, usage: TokenUsage | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        """What the provider reported, or what was counted until it broke off."""


_UNSENT = "nothing was sent"


def mark_unsent(error: BaseException) -> None:
    """Note on what ended a call, its cancellation perhaps, that nothing had left this process."""
    error.add_note(_UNSENT)


def is_unsent(error: BaseException | None) -> bool:
    """True where that was noted: such a call costs nothing."""
    return _UNSENT in getattr(error, "__notes__", ())


class ModelUnavailable(ModelError):
    """The model's provider does not answer right now."""

    code = "model_unavailable"

    def __init__(
        self,
        message: str = "",
        *,
        retry_after_s: float | None = None,
        may_be_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds the provider asks to wait; None where it did not say."""
        self.may_be_billed = may_be_billed
        """True where the request was sent and no answer came: it may have been served."""


class ModelRefused(ModelError):
    """The model's provider refuses the request. Check the key and the model's name."""

    code = "model_refused"


class AnswerTooLong(ModelError):
    """The answer reached the model's limit and breaks off."""

    code = "answer_too_long"


class ModelCut(ModelError):
    """The model's answer broke off before its end."""

    code = "model_cut"


class ModelAnswerInvalid(ModelError):
    """The model's answer cannot be used."""

    code = "model_answer_invalid"
