from datetime import UTC, datetime, timedelta

import pytest

from domain.attempts import WINDOW, FailedAttempts, network
from domain.errors import TooManyAttempts

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_limit_is_reached_by_failures_within_the_window_alone() -> None:
    attempts = FailedAttempts()
    for n in range(3):
        attempts.check("a", 3, NOON + n * SECOND)
        attempts.add("a", NOON + n * SECOND)
    with pytest.raises(TooManyAttempts) as refused:
        attempts.check("a", 3, NOON + 10 * SECOND)
    assert refused.value.retry_after_s == WINDOW.total_seconds() - 10
    attempts.check("a", 4, NOON + 10 * SECOND)
    attempts.check("b", 3, NOON + 10 * SECOND)
    attempts.check("a", 3, NOON + WINDOW)


def test_a_success_forgets_what_failed() -> None:
    attempts = FailedAttempts()
    attempts.add("a", NOON)
    attempts.forget("a")
    attempts.forget("never seen")
    attempts.check("a", 1, NOON)


def test_names_are_few_and_the_oldest_goes_first() -> None:
    attempts = FailedAttempts(most_names=2)
    for n, name in enumerate("abac"):
        attempts.add(name, NOON + n * SECOND)
    assert len(attempts) == 2
    attempts.check("b", 1, NOON + 5 * SECOND)
    for name in "ac":
        with pytest.raises(TooManyAttempts):
            attempts.check(name, 1, NOON + 5 * SECOND)


def test_a_name_without_recent_failures_takes_no_memory() -> None:
    attempts = FailedAttempts()
    attempts.add("a", NOON)
    attempts.check("a", 1, NOON + WINDOW)
    assert len(attempts) == 0


@pytest.mark.parametrize(
    ("peer", "counted"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_one_connection_is_one_peer_whatever_address_it_takes(peer: str, counted: str) -> None:
    assert network(peer) == counted
