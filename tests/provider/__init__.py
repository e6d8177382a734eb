"""A test provider: OpenAI's endpoints on 127.0.0.1, with faults on demand and a ledger.

    with Provider() as provider:
        provider.fail(Fault.OVERLOADED, kind="embedding", times=2, retry_after_s=0)
        provider.fail(Fault.ERROR, Fault.HANG, rate=0.3)
        provider.answer("Dignity is inviolable [1].", ["Split ", "[", "1", "]"])
        ... provider.url, provider.ledger ...

`python -m tests.provider --port 9000` serves the same to other processes, controlled by
`POST /control`, `GET /ledger` and `DELETE /ledger`.
"""

from tests.provider.api import Settings
from tests.provider.faults import Fault, Rule
from tests.provider.ledger import Entry, Status, served_inputs, tokens
from tests.provider.server import Provider

__all__ = ["Entry", "Fault", "Provider", "Rule", "Settings", "Status", "served_inputs", "tokens"]
