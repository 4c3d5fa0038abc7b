"""The command line's end of the channel to a running keeper (IF-21)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

from vaultkeeper.api.endpoint import Endpoint, endpoint_files, is_alive, read_endpoint
from vaultkeeper.api.problem import error_of
from vaultkeeper.core.errors import VaultUnavailableError
from vaultkeeper.store.folders import vault_key

_GREETING_S = 3.0
"""A keeper that lives answers `GET /v1/vaults` well within this."""
_COMMAND_S = 900.0
"""The longest command, a rebuild of a very large vault, is given this long."""


class Client:
    """One vault at one running keeper; each call is a connection of its own."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        self._key = key

    def serves(self) -> bool:
        """Whether a keeper answers there, takes our token, and keeps this vault."""
        with suppress(OSError, HTTPException, ValueError):
            status, answer = _call(self._endpoint, "GET", "/v1/vaults", None, _GREETING_S)
            vaults = answer.get("vaults")
            return (
                status == 200
                and isinstance(vaults, list)
                and any(_key_of(row) == self._key for row in vaults)
            )
        return False

    def command(self, verb: str, args: Mapping[str, object]) -> dict[str, object]:
        """What the keeper answers to a command.

        Raises:
            VaultkeeperError: the very error that the command met in the keeper.
            VaultUnavailableError: the keeper went away meanwhile: look with `log` whether the command was done.
        """
        path = f"/v1/vaults/{quote(self._key, safe='')}/commands"
        try:
            status, answer = _call(
                self._endpoint, "POST", path, {"verb": verb, "args": dict(args)}, _COMMAND_S
            )
        except (OSError, HTTPException, ValueError) as error:
            reason = f"its keeper (process {self._endpoint.pid}) went away during `{verb}`"
            raise VaultUnavailableError(self._key, reason) from error
        if status != 200:
            raise error_of(answer)
        return answer


def connect(state: Path, vault_root: Path) -> Client | None:
    """The running keeper of this vault; None when there is none, so that this process may do the work itself."""
    key = vault_key(vault_root)
    for file in endpoint_files(state, [key]):
        endpoint = read_endpoint(file)
        if endpoint is None or not endpoint.port or not is_alive(endpoint.pid):
            continue
        client = Client(endpoint, key)
        if client.serves():
            return client
    return None


def _key_of(row: object) -> object:
    return row.get("key") if isinstance(row, dict) else None


def _call(
    endpoint: Endpoint, method: str, path: str, body: Mapping[str, object] | None, timeout_s: float
) -> tuple[int, dict[str, object]]:
    """Status and document of one request. ValueError where the answer is not a JSON object."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {endpoint.token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", endpoint.port, timeout=timeout_s)) as connection:
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        if not isinstance(answer, dict):
            raise ValueError("not a JSON object")
        return response.status, answer
