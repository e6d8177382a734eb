"""Sign-in at an OpenID Connect provider: codes with PKCE, ID tokens verified by its keys."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from domain.errors import NotSignedIn, Unavailable
from domain.ports import Clock, Identity, SignInAttempt

_TIMEOUT_S = 10.0
_LEEWAY_S = 60
_ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Those with a public key: a shared secret or none proves nothing about who signed."""
_NOT_PROVEN = "The sign-in provider did not prove who you are. Try again."


class OpenIdProvider:
    """The `IdentityProvider` port, over HTTP; its metadata and keys are fetched when needed."""

    def __init__(self, issuer: str, client_id: str, client_secret: str, clock: Clock) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock
        self._http = httpx2.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False)
        self._metadata: Mapping[str, Any] | None = None
        self._keys: KeySet | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def address(self, attempt: SignInAttempt, redirect_uri: str) -> str:
        """Where the browser is sent to sign in."""
        metadata = await self._discovered()
        async with self._client(redirect_uri) as client:
            address, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(address)

    async def identity(self, attempt: SignInAttempt, code: str, redirect_uri: str) -> Identity:
        """Who came back with that code."""
        metadata = await self._discovered()
        try:
            async with self._client(redirect_uri) as client:
                answer = await client.fetch_token(
                    metadata["token_endpoint"], code=code, code_verifier=attempt.verifier
                )
        except AuthlibBaseError:
            raise NotSignedIn(_NOT_PROVEN) from None
        except (httpx2.HTTPError, ValueError) as error:
            raise _unavailable() from error
        claims = await self._verified(str(answer.get("id_token", "")), attempt.nonce)
        return Identity(
            subject=f"{self._issuer} {claims['sub']}",
            email=str(claims.get("email", "")),
            is_verified=claims.get("email_verified") is True,
        )

    def _client(self, redirect_uri: str) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self._client_id,
            self._client_secret or None,
            token_endpoint_auth_method="client_secret_basic" if self._client_secret else "none",
            scope="openid email",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=_TIMEOUT_S,
        )

    async def _verified(self, id_token: str, nonce: str) -> Mapping[str, Any]:
        try:
            try:
                token = jwt.decode(id_token, await self._key_set(), algorithms=_ALGORITHMS)
            except (JoseError, ValueError):
                # Signed with a key that is new since they were fetched, perhaps.
                keys = await self._key_set(anew=True)
                token = jwt.decode(id_token, keys, algorithms=_ALGORITHMS)
            claims = CodeIDToken(
                token.claims,
                token.header,
                options={
                    "iss": {"essential": True, "value": self._issuer},
                    "aud": {"essential": True, "value": self._client_id},
                    "sub": {"essential": True},
                },
                params={"nonce": nonce, "client_id": self._client_id},
            )
            claims.validate(now=int(self._clock.now().timestamp()), leeway=_LEEWAY_S)
        except (JoseError, AuthlibBaseError, ValueError, TypeError):
            raise NotSignedIn(_NOT_PROVEN) from None
        return dict(claims)

    async def _discovered(self) -> Mapping[str, Any]:
        """The provider's metadata.

        Raises:
            Unavailable: it does not answer, or speaks for another issuer.
        """
        async with self._turn:
            if self._metadata is None:
                address = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
                found = await self._json(address)
                needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if found.get("issuer") != self._issuer or not all(map(found.get, needed)):
                    raise _unavailable()
                self._metadata = found
            return self._metadata

    async def _key_set(self, *, anew: bool = False) -> KeySet:
        metadata = await self._discovered()
        async with self._turn:
            if self._keys is None or anew:
                found: Any = await self._json(str(metadata["jwks_uri"]))
                try:
                    self._keys = KeySet.import_key_set(found)
                except (JoseError, LookupError, TypeError, ValueError) as error:
                    raise _unavailable() from error
            return self._keys

    async def _json(self, address: str) -> Mapping[str, Any]:
        try:
            response = await self._http.get(address)
            response.raise_for_status()
            found = response.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise _unavailable() from error
        if not isinstance(found, dict):
            raise _unavailable()
        return found


def _unavailable() -> Unavailable:
    return Unavailable("The sign-in provider does not answer as it should. Try again later.")
