"""The command line, `beleg`. Each command imports what it needs when it runs."""
# ruff: noqa: PLC0415

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from getpass import getpass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from domain.errors import BelegError, Rejected, Unavailable


def _up_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, help="default: the first free one from 8470")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--data", type=Path, help="default: BELEG_DATA or ~/.local/share/beleg")


def _up(arguments: argparse.Namespace) -> None:
    from app.data_folder import default_data_folder
    from app.up import up

    data = arguments.data or default_data_folder()
    up(host=arguments.host, port=arguments.port, data=data)


def _web_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8470, help="default: %(default)s")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--fd", type=int, help="serve on this inherited, listening socket")


def _web(arguments: argparse.Namespace) -> None:
    from app.web_server import serve

    _find_database()
    serve(host=arguments.host, port=arguments.port, descriptor=arguments.fd)


def _worker_arguments(parser: argparse.ArgumentParser) -> None:
    from domain.jobs import QUEUES

    parser.add_argument("--queue", required=True, choices=QUEUES)


def _worker(arguments: argparse.Namespace) -> None:
    from workers.main import run

    _find_database()
    run(arguments.queue)


def _migrate_arguments(_: argparse.ArgumentParser) -> None:
    """Takes none."""


def _migrate(_: argparse.Namespace) -> None:
    from app import bootstrap

    bootstrap.migrate(_find_database())


def _account_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="action")
    text = "make an account; its password is asked for, or read from standard input"
    add = actions.add_parser("add", help=text, description=text)
    add.add_argument("email")


def _account(arguments: argparse.Namespace) -> None:
    from app.settings import read_settings

    database_url, credit = _find_database(), read_settings().signup_credit
    password = _password()

    async def add() -> None:
        from app import bootstrap

        async with bootstrap.administration(database_url, credit) as administer:
            user = await administer.add_account(arguments.email, password)
        role = "the admin" if user.is_admin else "a user"
        _say(f"{user.email} is {role} now, with {user.credit.normalize():f} USD to spend.")

    asyncio.run(add())


def _password() -> str:
    """From the terminal, twice; else the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass("Password: ")
    if getpass("Once more: ") != password:
        raise Rejected("These are two different passwords.")
    return password


def _credit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email")
    parser.add_argument("amount", help="USD, such as 5 or 0.50")


def _credit(arguments: argparse.Namespace) -> None:
    try:
        amount = Decimal(arguments.amount)
    except InvalidOperation:
        raise Rejected(f"{arguments.amount!r} is no amount in USD.") from None

    async def give() -> None:
        from app import bootstrap

        async with bootstrap.administration(_find_database(), Decimal(0)) as administer:
            may_spend = await administer.give_credit(arguments.email, amount)
        _say(f"{arguments.email} may spend {may_spend.normalize():f} USD now.")

    asyncio.run(give())


def _eval_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("questions", type=Path, help="a question set, JSONL (docs/evaluation.md)")
    parser.add_argument("--notebook", required=True, help="its id or its title")
    parser.add_argument("--account", help="whose it is; default: this machine's, in local mode")
    parser.add_argument(
        "--answers", action="store_true", help="have the questions answered, which may cost money"
    )
    parser.add_argument(
        "--compare",
        nargs="+",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a second column with these settings; may be given more than once",
    )
    parser.add_argument("--json", action="store_true", help="print figures for programs")


def _eval(arguments: argparse.Namespace) -> None:
    from app import evaluation

    compare = []
    for pairs in arguments.compare:
        if not all("=" in pair for pair in pairs):
            raise Rejected("--compare takes settings as NAME=VALUE.")
        compare.append(dict(pair.split("=", 1) for pair in pairs))
    if not os.environ.get("DATABASE_URL", "").strip():
        os.environ.setdefault("BELEG_LOCAL", "1")  # the database will be that of `beleg up`
    _find_database()
    asked = evaluation.Asked(
        arguments.questions, arguments.notebook, arguments.account, arguments.answers, compare
    )
    columns = asyncio.run(evaluation.evaluate(asked))
    _say((evaluation.as_json if arguments.json else evaluation.table)(columns))


def _say(line: str) -> None:
    print(line)  # noqa: T201 - this is a command's output


def _find_database() -> str:
    """`DATABASE_URL`; where it is absent it is set to the database of a running `beleg up`."""
    from app import bootstrap
    from app.data_folder import default_data_folder

    if not os.environ.get("DATABASE_URL", "").strip():
        url = bootstrap.running_database(default_data_folder() / "postgres")
        if url is None:
            raise Unavailable("There is no database: set DATABASE_URL, or run `beleg up` first.")
        os.environ["DATABASE_URL"] = url
    return os.environ["DATABASE_URL"]


class Command(NamedTuple):
    """One subcommand: its line in the help, its arguments, what it does."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


COMMANDS = {
    "up": Command("run everything on this machine", _up_arguments, _up),
    "web": Command("run the web server alone", _web_arguments, _web),
    "worker": Command("run the worker of one queue", _worker_arguments, _worker),
    "migrate": Command("bring the database up to date", _migrate_arguments, _migrate),
    "account": Command("add an account", _account_arguments, _account),
    "eval": Command("ask a notebook the questions of a file, and judge", _eval_arguments, _eval),
    "credit": Command("give an account credit", _credit_arguments, _credit),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command: its exit status."""
    parser = argparse.ArgumentParser(
        prog="beleg", description="Answers from your own documents, with citations."
    )
    parser.add_argument("--version", action="version", version=version("beleg"))
    subparsers = parser.add_subparsers(required=True, metavar="command")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.help, description=command.help)
        command.arguments(subparser)
        subparser.set_defaults(run=command.run)
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except BelegError as error:
        print(f"beleg: {error}", file=sys.stderr)  # noqa: T201 - where a command line complains
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
