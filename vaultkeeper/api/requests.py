"""One HTTP request of the local API, from its first byte to the answer; hostile input ends here."""

from __future__ import annotations

import json
import logging
import os
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import msgspec

from vaultkeeper.api.guard import Headers, Refusal, body_length, refuse_source, refuse_stranger
from vaultkeeper.api.problem import problem, problem_of
from vaultkeeper.core.errors import VaultkeeperError

log = logging.getLogger(__name__)

_SOCKET_TIMEOUT_S = 10
"""A caller who says nothing for this long is dropped."""
_MAX_CONNECTIONS = 64
"""More at once than any client of ours opens; the next ones are closed unanswered, so that threads stay bounded."""
_DRAIN_BYTES = 16 * 1024 * 1024
_DRAIN_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the server offers, as plain callables."""

    commands: Callable[[str, str, dict[str, object]], dict[str, object]]
    vaults: Callable[[], list[dict[str, object]]]
    token: str
    version: str


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /v1/vaults/{key}/commands`."""

    verb: str
    args: dict[str, object] = {}


class RefusedRequest(Exception):  # noqa: N818 - it is an answer, not a failure
    """Ends a request with this refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class LoopbackServer(ThreadingHTTPServer):
    """A server on 127.0.0.1 with a port of the system's choice and a bounded number of daemon threads."""

    allow_reuse_address = False

    def __init__(self, service: Service) -> None:
        self.service = service
        self._free = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        super().__init__(("127.0.0.1", 0), Handler)

    def server_bind(self) -> None:
        """Bind without the look-up of the host's name that HTTPServer does, which may wait for a name server."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - signature of socketserver
        """Answer in a thread of its own, or not at all while too many are under way."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """The thread of one request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Log what no answer could be given to; callers who hang up are nothing to report."""
        if not isinstance(sys.exception(), OSError):
            log.exception("a request to the local API failed")


class Handler(BaseHTTPRequestHandler):
    """Reads one request, answers it, closes the connection."""

    server: LoopbackServer
    timeout = _SOCKET_TIMEOUT_S
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Health (for everybody on this machine) and the list of vaults."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Commands."""
        self._answer(self._post)

    def _get(self) -> dict[str, object]:
        path = self._path()
        if path == ("v1", "health"):
            return {"name": "vaultkeeper", "version": self.server.service.version}
        self._demand_token()
        if path == ("v1", "vaults"):
            return {"vaults": self.server.service.vaults()}
        raise _nowhere() if not _is_command(path) else _wrong_method()

    def _post(self) -> dict[str, object]:
        self._demand_token()
        path = self._path()
        if not _is_command(path):
            raise _wrong_method() if path in {("v1", "health"), ("v1", "vaults")} else _nowhere()
        service = self.server.service
        key = path[2]
        if all(vault["key"] != key for vault in service.vaults()):
            raise RefusedRequest(Refusal(404, "unknown-vault", "no vault of that key is kept here"))
        command = _parsed(self._body())
        return service.commands(key, command.verb, command.args)

    def _answer(self, respond: Callable[[], dict[str, object]]) -> None:
        self.close_connection = True
        try:
            refusal = refuse_source(self._headers(), self.server.server_port)
            if refusal is not None:
                raise RefusedRequest(refusal)
            document = respond()
        except RefusedRequest as refused:
            self._refuse(refused.refusal)
        except VaultkeeperError as error:
            document = problem_of(error, _roots(self.server.service.vaults()))
            self._send(int(str(document["status"])), document, "application/problem+json")
        except Exception:
            log.exception("a command through the local API failed")
            self._refuse(
                Refusal(500, "InternalError", "something went wrong inside the keeper: its log tells what")
            )
        else:
            self._send(200, document, "application/json")

    def _path(self) -> tuple[str, ...]:
        return tuple(unquote(part) for part in self.path.partition("?")[0].split("/")[1:])

    def _headers(self) -> Headers:
        return {name.lower(): self.headers.get_all(name, []) for name in self.headers}

    def _demand_token(self) -> None:
        refusal = refuse_stranger(self._headers(), self.server.service.token)
        if refusal is not None:
            raise RefusedRequest(refusal)

    def _body(self) -> bytes:
        length = body_length(self._headers())
        if isinstance(length, Refusal):
            raise RefusedRequest(length)
        if "expect" in self.headers:
            self.send_response_only(HTTPStatus.CONTINUE)
            self.end_headers()
        try:
            body = self.rfile.read(length)
        except TimeoutError as error:
            raise RefusedRequest(Refusal(408, "timeout", "the body did not arrive in time")) from error
        if len(body) < length:
            raise RefusedRequest(Refusal(400, "short-body", "the body is shorter than Content-Length says"))
        return body

    def _refuse(self, refusal: Refusal) -> None:
        self._send(
            refusal.status, problem(refusal.status, refusal.code, refusal.detail), "application/problem+json"
        )
        self._drain()

    def _send(self, status: int, document: Mapping[str, object], content_type: str) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(data)

    def _drain(self) -> None:
        """Take in what the caller still sends: closing on unread bytes resets the connection and loses the answer."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_DRAIN_S)
            until = time.monotonic() + _DRAIN_S
            left = _DRAIN_BYTES
            while left > 0 and time.monotonic() < until and (chunk := self.rfile.read1(65_536)):
                left -= len(chunk)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what http.server refuses by itself (a bad request line, an unknown method) as a problem document."""
        self.close_connection = True
        status = 405 if code == HTTPStatus.NOT_IMPLEMENTED else int(code)
        self._refuse(Refusal(status, "bad-request", HTTPStatus(status).phrase))

    def handle_expect_100(self) -> bool:
        """Keep `100 Continue` back until the request has passed the guard."""
        return True

    def version_string(self) -> str:
        """The `Server` header, without the version of Python."""
        return "vaultkeeper"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - signature of http.server
        """Nothing: a request line may hold what a caller mistook for the place of a secret."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002
        """Method and status, never path or headers."""
        log.debug("%s answered with %s", self.command, code)


def _is_command(path: tuple[str, ...]) -> bool:
    return len(path) == 4 and path[:2] == ("v1", "vaults") and path[3] == "commands"


def _nowhere() -> RefusedRequest:
    return RefusedRequest(Refusal(404, "unknown-address", "there is nothing at this address"))


def _wrong_method() -> RefusedRequest:
    return RefusedRequest(Refusal(405, "wrong-method", "this address does not take that method"))


def _parsed(body: bytes) -> Command:
    try:
        return msgspec.json.decode(body, type=Command)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedRequest(Refusal(422, "malformed", f"the body is no command: {error}")) from error


def _roots(vaults: list[dict[str, object]]) -> dict[str, str]:
    """Folders that no problem document shows, each with the name shown instead."""
    return {path: os.path.basename(path) for vault in vaults if (path := str(vault.get("vault", "")))}
