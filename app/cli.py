"""The command line, `beleg`. Each command imports what it needs when it runs."""
# ruff: noqa: PLC0415

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from domain.errors import BelegError, Unavailable


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


def _find_database() -> str:
    """`DATABASE_URL`; where it is absent it is set to the database of a running `beleg up`."""
    from app import bootstrap
    from app.data_folder import default_data_folder

    if not os.environ.get("DATABASE_URL"):
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
