"""The htmx files that the pages load from a CDN, for browsers that may not reach it."""

import base64
import hashlib
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "htmx.org@4.0.1"
FILES = {
    "htmx.min.js": (
        "dist/htmx.min.js",
        "sha384-Qp9rdC8H7EqOoX+nR0P3RPG2Noji+qdwJlGpfzwQJsfOpp3sGwIdSP9xO3+UlEhn",
    ),
    "hx-sse.min.js": (
        "dist/ext/hx-sse.min.js",
        "sha384-v8HvucQ+ohQhMg0arboXc5049yNR46QKMjphs7YDch+Wm7zpfK5XVS01f26mQDJV",
    ),
}
CACHE = Path(sys.prefix) / "share" / "beleg-tests" / PACKAGE


class HtmxFilesMissing(Exception):
    """The htmx files could not be fetched, or are not the ones that the pages name."""


def htmx_files() -> Path:
    """The folder with the files named in `FILES`, fetched once and checked every time.

    Raises:
        HtmxFilesMissing: npm could not fetch the package, or a hash differs.
    """
    if not all((CACHE / name).exists() for name in FILES):
        _fetch()
    for name, (_, expected) in FILES.items():
        found = integrity((CACHE / name).read_bytes())
        if found != expected:
            raise HtmxFilesMissing(f"{CACHE / name} has {found} instead of {expected}")
    return CACHE


def integrity(content: bytes) -> str:
    """The integrity attribute that a page gives for that content."""
    return f"sha384-{base64.b64encode(hashlib.sha384(content).digest()).decode()}"


def _fetch() -> None:
    npm = Path(sysconfig.get_path("scripts")) / "npm"
    with tempfile.TemporaryDirectory() as folder:
        command = [str(npm), "pack", PACKAGE, "--silent", "--pack-destination", folder]
        try:
            result = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HtmxFilesMissing(f"npm could not fetch {PACKAGE}: {error}") from error
        archive = next(Path(folder).glob("*.tgz"), None)
        if result.returncode != 0 or archive is None:
            raise HtmxFilesMissing(f"npm could not fetch {PACKAGE}: {result.stderr.strip()}")
        CACHE.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as package:
            for name, (path, _) in FILES.items():
                member = package.extractfile(f"package/{path}")
                if member is None:
                    raise HtmxFilesMissing(f"{PACKAGE} has no {path}")
                (CACHE / name).write_bytes(member.read())
