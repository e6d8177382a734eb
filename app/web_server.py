"""Serve the web app with uvicorn."""

import os
import resource
import socket
import sys

import uvicorn

_GRACE_S = 5
_TURN_S = 0.0005
"""Seconds that a computing thread keeps the event loop waiting, as in the workers."""


def serve(*, host: str, port: int, descriptor: int | None) -> None:
    """Serve until SIGTERM or SIGINT; requests that still run then get five seconds.

    Args:
        host: address to listen on.
        port: port to listen on.
        descriptor: an inherited, listening socket that replaces both.
    """
    sys.setswitchinterval(_TURN_S)
    raise_open_files()
    config = uvicorn.Config(
        "app.asgi:create_app",
        factory=True,
        host=host,
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GRACE_S,
    )
    sockets = None
    if descriptor is not None:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - it takes no keywords
        sockets = [socket.socket(fileno=descriptor)]
    server = uvicorn.Server(config)
    server.run(sockets=sockets)
    if not server.started:
        sys.exit("The web server did not start.")


def raise_open_files() -> None:
    """Take as many open files as this process may have: every open page holds two streams.

    Where nobody says otherwise that is 1,024, by a default for programs that use `select`.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
