"""The HTTP server of a running keeper on 127.0.0.1: who is there, which vaults, and commands to them (K-80, K-81, K-83)."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vaultkeeper.api.endpoint import Endpoint, endpoint_files, remove_endpoint, write_endpoint
from vaultkeeper.api.requests import LoopbackServer, Service

_STOP_S = 5.0


class ApiServer:
    """Owns the socket, the token and `endpoint.json`. Commands run in the thread of their request.

    `commands` gets a vault's key, a verb and its arguments; what it raises of `core.errors` reaches the caller as the
    same exception. `vaults` lists what is kept, each with at least its `key` and, as `vault`, its folder.
    """

    def __init__(
        self,
        commands: Callable[[str, str, dict[str, object]], dict[str, object]],
        vaults: Callable[[], list[dict[str, object]]],
        state: Path,
        version: str,
    ) -> None:
        self._vaults = vaults
        self._state = state
        self._token = secrets.token_urlsafe(32)  # 256 bits, K-80
        self._service = Service(commands=commands, vaults=vaults, token=self._token, version=version)
        self._server: LoopbackServer | None = None
        self._thread: threading.Thread | None = None
        self._files: tuple[Path, ...] = ()
        self._stopping = threading.Event()

    def start(self) -> str:
        """Listen, then say where; the address, such as `http://127.0.0.1:50123`."""
        self._server = LoopbackServer(self._service)
        url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._serve, args=(self._server,), name="api", daemon=True)
        self._thread.start()
        # Names and places only: the state of a vault would be stale in a file.
        vaults = [{name: vault[name] for name in ("key", "vault")} for vault in self._vaults()]
        self._files = endpoint_files(self._state, [str(vault["key"]) for vault in vaults])
        endpoint = Endpoint(url=url, token=self._token, pid=os.getpid(), vaults=tuple(vaults))
        for file in self._files:
            write_endpoint(file, endpoint)
        return url

    def stop(self) -> None:
        """Take the endpoint away if it is still ours, then stop listening; requests under way end by themselves."""
        for file in self._files:
            remove_endpoint(file, self._token)
        if self._server is None or self._thread is None:
            return
        self._stopping.set()
        with suppress(OSError):  # wakes the loop, which sleeps until somebody calls
            socket.create_connection(("127.0.0.1", self._server.server_port), timeout=_STOP_S).close()
        self._thread.join(timeout=_STOP_S)
        self._server.server_close()
        self._server = None

    def _serve(self, server: LoopbackServer) -> None:
        # Not serve_forever: that wakes up twice a second for good (K-37).
        while not self._stopping.is_set():
            server.handle_request()
