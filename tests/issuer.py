"""A small OpenID Connect issuer on loopback, with real keys; it can be told to lie."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT_ID, CLIENT_SECRET = "beleg", "the client's secret"
Claims = dict[str, Any]


def unsigned(_: "Issuer", header: Claims, claims: Claims) -> str:
    """An ID token that says of itself that nobody signed it."""
    parts = ({**header, "alg": "none"}, claims)
    return ".".join([*(_b64(json.dumps(part).encode()) for part in parts), ""])


def signed_with_the_public_key(issuer: "Issuer", header: Claims, claims: Claims) -> str:
    """An HMAC over what everybody knows: taken by whoever lets the token choose."""
    parts = ({**header, "alg": "HS256"}, claims)
    signed = ".".join(_b64(json.dumps(part).encode()) for part in parts)
    public = issuer.key.as_pem(private=False)
    return f"{signed}.{_b64(hmac.digest(public, signed.encode(), 'sha256'))}"


def signed_by_another(_: "Issuer", header: Claims, claims: Claims) -> str:
    return jwt.encode(header, claims, RSAKey.generate_key(2048))


@dataclass
class Issuer:
    """What is authorised is answered at once: whoever is sent here is signed in already."""

    claims: Claims = field(default_factory=dict)
    """Over what an ID token would say; None leaves a claim out."""
    sign: Callable[["Issuer", Claims, Claims], str] | None = None
    key: RSAKey | ECKey = field(default_factory=lambda: RSAKey.generate_key(2048, auto_kid=True))
    metadata: Claims = field(default_factory=dict)
    token_status: int = 200
    keys: object = None
    """Sent in place of its keys."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer._get(self)

            def do_POST(self) -> None:
                issuer._post(self)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def authorize(self, address: str) -> str:
        """Where the browser is sent back to, as if somebody had signed in at `address`."""
        query = {name: value[0] for name, value in parse_qs(urlsplit(address).query).items()}
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def _get(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append((handler.path, {}))
        if handler.path == "/.well-known/openid-configuration":
            metadata = {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
            }
            _answer(handler, 200, metadata | self.metadata)
        elif handler.path == "/keys":
            public = {**self.key.as_dict(private=False), "use": "sig", "kid": self.key.kid}
            _answer(handler, 200, {"keys": [public]} if self.keys is None else {"keys": self.keys})
        else:
            _answer(handler, 404, {})

    def _post(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["content-length"])).decode()
        form = {name: value[0] for name, value in parse_qs(body).items()}
        self.asked.append((handler.path, form))
        wanted = "Basic " + base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        query = self.codes.pop(form.get("code", ""), None)
        challenge = _b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if self.token_status != 200:
            _answer(handler, self.token_status, {"error": "server_error"})
        elif handler.headers.get("authorization") != wanted:
            _answer(handler, 401, {"error": "invalid_client"})
        elif query is None or challenge != query["code_challenge"]:
            _answer(handler, 400, {"error": "invalid_grant"})
        else:
            token = {"access_token": "a", "token_type": "Bearer", "id_token": self._token(query)}
            _answer(handler, 200, token)

    def _token(self, query: dict[str, str]) -> str:
        now = int(time.time())
        claims: Claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": "subject-1",
            "nonce": query["nonce"],
            "iat": now,
            "exp": now + 300,
            "email": "ada@example.org",
            "email_verified": True,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256" if isinstance(self.key, RSAKey) else "ES256", "kid": self.key.kid}
        if self.sign:
            return self.sign(self, header, claims)
        return jwt.encode(header, claims, self.key)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _answer(handler: BaseHTTPRequestHandler, status: int, body: Claims) -> None:
    content = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
