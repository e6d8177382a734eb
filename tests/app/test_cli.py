"""Accounts and credit from the command line."""

import io
import os
import pty
import subprocess
import sys
from decimal import Decimal

import psycopg
import pytest

from app.cli import main


@pytest.fixture(autouse=True)
def _environment(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("SIGN_UP", "closed")
    monkeypatch.setenv("SIGNUP_CREDIT", "3")


def add(monkeypatch: pytest.MonkeyPatch, email: str, password: str = "a good password") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{password}\nmore\n"))
    return main(["account", "add", email])


def rows(database_url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database_url) as connection:
        return connection.execute(statement.encode()).fetchall()


def test_accounts_are_made_though_sign_up_is_closed(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add(monkeypatch, "One@example.org") == 0
    assert add(monkeypatch, "two@example.org") == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "one@example.org is the admin now, with 3 USD to spend.",
        "two@example.org is a user now, with 3 USD to spend.",
    ]
    assert rows(database_url, "select email, is_admin, credit from users order by id") == [
        ("one@example.org", True, Decimal(3)),
        ("two@example.org", False, Decimal(3)),
    ]


def test_what_cannot_be_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add(monkeypatch, "one@example.org") == 0
    assert add(monkeypatch, "one@example.org") == 1
    assert add(monkeypatch, "no address") == 1
    assert add(monkeypatch, "two@example.org", "short") == 1
    for amount in ("0", "-1", "x", "NaN", "1e30", "0.0000000001"):
        assert main(["credit", "one@example.org", "--", amount]) == 1, amount
    assert main(["credit", "nobody@example.org", "1"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 10
    assert all(line.startswith("beleg: ") for line in told)


def test_credit_is_added_and_the_grant_is_kept(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(monkeypatch, "one@example.org")
    assert main(["credit", "ONE@example.org", "2.5"]) == 0
    assert "ONE@example.org may spend 5.5 USD now." in capsys.readouterr().out
    assert rows(database_url, "select credit from users") == [(Decimal("5.5"),)]
    assert rows(database_url, "select amount, reason from credit_grants order by id") == [
        (Decimal(3), "sign-up"),
        (Decimal("2.5"), "command line"),
    ]


def test_a_terminal_is_asked_for_the_password_twice(database_url: str) -> None:
    for once_more, status in (("another", 1), ("a good password", 0)):
        leader, follower = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "app.cli", "account", "add", "one@example.org"],
            stdin=follower,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            os.close(follower)
            assert process.stderr is not None
            for prompt, typed in (("Password: ", "a good password"), ("Once more: ", once_more)):
                asked = process.stderr.read(len(prompt)).decode()
                assert asked == prompt
                os.write(leader, f"{typed}\n".encode())
                process.stderr.read(1)  # the line that typing ended
            process.stderr.read()
            assert process.wait(timeout=60) == status
        os.close(leader)
    assert len(rows(database_url, "select from users")) == 1
