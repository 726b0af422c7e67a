"""A small OpenID Connect issuer on loopback, which says of a person whatever a test wants."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "foldline", "a client's secret"
BOB = {"sub": "4711", "email": "bob@example.org", "email_verified": True, "preferred_username": "bob"}


@dataclass
class Issuer:
    """`person` is who signs in next; `told` adds to the id token alone; what came in is kept in `asked`."""

    url: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(BOB))
    told: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    is_broken: bool = False
    _challenges: dict[str, str] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Issuer]:
        issuer = cls()
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(issuer))
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def answer(self, path: str, sent: dict[str, str]) -> tuple[int, dict[str, Any] | str]:
        """Status and JSON, or where to go on."""
        self.asked.append((path, sent))
        if path.endswith("/openid-configuration"):
            places = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token", "userinfo")}
            return 200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **places}
        if self.is_broken:
            return 500, {}
        if path == "/authorization":
            code = f"code{len(self._challenges)}"
            self._challenges[code] = sent["code_challenge"]
            return 302, f"{sent['redirect_uri']}?{urlencode({'code': code, 'state': sent['state']})}"
        if path == "/token":
            return self._token(sent)
        return 200, self.person

    def _token(self, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        known = self._challenges.pop(sent.get("code", ""), None) == challenge
        if not known or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT, SECRET):
            return 400, {"error": "invalid_grant"}
        claims = {"iss": self.url, "aud": CLIENT, "exp": int(time.time()) + 60, "sub": self.person["sub"]}
        token = jwt.encode({**claims, **self.told}, "k" * 32, algorithm="HS256")
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": token}


def _handler_of(issuer: Issuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _answer(self, sent: str) -> None:
            facts = {name: values[0] for name, values in parse_qs(sent).items()}
            status, said = issuer.answer(urlsplit(self.path).path, facts)
            body = b"" if isinstance(said, str) else json.dumps(said).encode()
            self.send_response(status)
            if isinstance(said, str):
                self.send_header("Location", said)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
