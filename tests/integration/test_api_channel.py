"""The channel to a running keeper: a real server on a real port, friendly clients and hostile ones."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from vaultkeeper.api import requests
from vaultkeeper.api.client import Client, connect
from vaultkeeper.api.endpoint import Endpoint, endpoint_files, is_alive, read_endpoint, write_endpoint
from vaultkeeper.api.server import ApiServer
from vaultkeeper.core import errors
from vaultkeeper.store.folders import vault_key


class Keeper:
    """A server with one vault whose commands answer with what they were asked, or raise what they are told."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "my vault 笔记"
        self.vault.mkdir(parents=True)
        self.key = vault_key(self.vault)
        self.state = folder / "state"
        self.error: Exception | None = None
        self.before: Callable[[], object] = lambda: None
        self.called = threading.Event()
        self.calls: list[tuple[str, str, dict[str, object]]] = []
        self.server = ApiServer(self.command, self.vaults, self.state, "1.2.3")
        self.url = self.server.start()
        self.port = int(self.url.rpartition(":")[2])

    @property
    def endpoint(self) -> Endpoint:
        endpoint = read_endpoint(self.state / "endpoint.json")
        assert endpoint is not None
        return endpoint

    def vaults(self) -> list[dict[str, object]]:
        return [{"key": self.key, "vault": str(self.vault), "state": "watching"}]

    def command(self, key: str, verb: str, args: dict[str, object]) -> dict[str, object]:
        self.calls.append((key, verb, args))
        self.called.set()
        self.before()
        if self.error is not None:
            raise self.error
        return {"verb": verb, "args": args}

    def client(self) -> Client:
        client = connect(self.state, self.vault)
        assert client is not None
        return client

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, object], dict[str, str]]:
        sent = {"Authorization": f"Bearer {self.endpoint.token}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), dict(answer.getheaders())
        finally:
            connection.close()

    def raw(self, *headers: str, body: bytes = b"", path: str = "", end: bool = True) -> bytes:
        """The whole answer to a request written by hand; `end` says whether we stop sending before we listen."""
        path = path or f"/v1/vaults/{quote(self.key)}/commands"
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.endpoint.token}",
        ]
        return self.send(("\r\n".join([*lines, *headers]) + "\r\n\r\n").encode() + body, end=end)

    def send(self, data: bytes, *, end: bool = True) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
            return answer


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    running = Keeper(tmp_path)
    yield running
    running.server.stop()


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


# who may speak


@pytest.mark.rule("IF-31", "K-80")
def test_the_endpoint_is_for_the_user_alone_and_holds_a_256_bit_token(keeper: Keeper) -> None:
    file = keeper.state / "endpoint.json"
    data = json.loads(file.read_bytes())
    assert set(data) == {"url", "token", "pid", "vaults"}
    assert data["url"] == keeper.url
    assert data["pid"] == os.getpid()
    assert data["vaults"] == [{"key": keeper.key, "vault": str(keeper.vault)}]
    assert len(data["token"]) >= 43
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.rule("K-80", "IF-30")
def test_health_needs_no_token_and_tells_nothing_else(keeper: Keeper) -> None:
    assert keeper.ask("GET", "/v1/health", Authorization="none")[:2] == (
        200,
        {"name": "vaultkeeper", "version": "1.2.3"},
    )


@pytest.mark.rule("K-80", "IF-32")
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer \xe9"]
)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/vaults"), ("POST", "/v1/vaults/x/commands"), ("GET", "/nowhere")]
)
def test_everything_else_needs_the_token(keeper: Keeper, given: str, method: str, path: str) -> None:
    given = given.format(token=keeper.endpoint.token)
    status, problem, headers = keeper.ask(
        method, path, b"{}" if method == "POST" else None, Authorization=given
    )
    assert status == 401
    assert problem["code"] == "unauthorized"
    assert headers["Content-Type"] == "application/problem+json"
    assert headers["WWW-Authenticate"] == "Bearer"
    assert not keeper.calls


@pytest.mark.rule("K-81")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "localhost:{port}",
        "127.0.0.1",
        "127.0.0.1:{port}0",
        "127.0.0.1:{port}.evil.example",
        "",
    ],
)
def test_another_host_gets_421_even_on_health(keeper: Keeper, host: str) -> None:
    status, problem, _ = keeper.ask("GET", "/v1/health", Host=host.format(port=keeper.port))
    assert (status, problem["code"]) == (421, "wrong-host")


@pytest.mark.rule("K-81")
def test_two_hosts_or_none_get_421(keeper: Keeper) -> None:
    good = f"Host: 127.0.0.1:{keeper.port}\r\n"
    assert status_of(keeper.send(f"GET /v1/health HTTP/1.1\r\n{good}{good}\r\n".encode())) == 421
    assert status_of(keeper.send(b"GET /v1/health HTTP/1.1\r\n\r\n")) == 421


@pytest.mark.rule("K-81")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "app://obsidian.md.evil.example", "http://127.0.0.1"]
)
def test_a_web_page_gets_403_and_no_cors(keeper: Keeper, origin: str) -> None:
    status, _, headers = keeper.ask("GET", "/v1/vaults", Origin=origin)
    assert status == 403
    assert not any(name.lower().startswith("access-control") for name in headers)


@pytest.mark.rule("K-81")
def test_obsidian_itself_may_ask(keeper: Keeper) -> None:
    status, answer, headers = keeper.ask("GET", "/v1/vaults", Origin="app://obsidian.md")
    assert (status, answer) == (200, {"vaults": keeper.vaults()})
    assert headers["Cache-Control"] == "no-store"
    assert headers["Connection"] == "close"


# what may be sent


@pytest.mark.rule("K-83")
@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (["Content-Length: abc"], b"", 400),
        (["Content-Length: -1"], b"", 400),
        (["Content-Length: +2"], b"{}", 400),
        (["Content-Length: 2, 2"], b"{}", 400),
        (["Content-Length: 2", "Content-Length: 2"], b"{}", 400),
        (["Content-Length: \u0662"], b"{}", 400),
        (["Content-Length: 99999999999999999999999"], b"", 400),
        (["Content-Length: 8388609"], b"x" * 100_000, 413),
        (["Content-Length: 2", "Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked"], b"fffff\r\n" + b"x" * 500_000, 411),
        ([], b"", 411),
        (["Content-Length: 50"], b"{}", 400),
        (["Content-Length: 0"], b"", 422),
        (["Content-Length: 3"], b'"\xff"', 422),
        (["Content-Length: 9"], b'{"verb":1', 422),
        (["Content-Length: 10"], b'{"verb":1}', 422),
        (["Content-Length: 22"], b'{"verb":"x","other":1}', 422),
        (["Content-Length: 100000"], b"[" * 100_000, 422),
        (["Content-Length: 100026"], b'{"verb":"x","args":{"a":' + b"[" * 100_000 + b"}}", 422),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_hostile_body_is_answered_and_the_next_request_served(
    keeper: Keeper, headers: list[str], body: bytes, status: int
) -> None:
    answer = keeper.raw(*headers, body=body)
    assert status_of(answer) == status
    head, _, document = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert json.loads(document)["status"] == status
    assert b"Traceback" not in answer
    assert not keeper.calls
    assert keeper.client().command("tidy", {}) == {"verb": "tidy", "args": {}}


@pytest.mark.rule("K-83")
def test_malformed_input_names_the_field(keeper: Keeper) -> None:
    answer = keeper.raw("Content-Length: 10", body=b'{"verb":1}')
    assert "$.verb" in json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]


@pytest.mark.rule("K-83")
def test_a_caller_that_sends_too_much_still_gets_to_read_why(keeper: Keeper) -> None:
    path = f"/v1/vaults/{quote(keeper.key)}/commands"
    status, problem, _ = keeper.ask("POST", path, b"x" * (8 * 1024 * 1024 + 1))
    assert (status, problem["code"]) == (413, "too-large")


@pytest.mark.rule("K-83")
def test_a_body_that_stalls_is_answered_with_408(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    assert requests.Handler.timeout == 10
    monkeypatch.setattr(requests.Handler, "timeout", 0.1)
    assert status_of(keeper.raw("Content-Length: 5", body=b"{}", end=False)) == 408
    assert keeper.client().command("tidy", {})


@pytest.mark.rule("K-83")
def test_a_caller_that_says_nothing_is_dropped(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests.Handler, "timeout", 0.1)
    assert keeper.send(b"GET /v1/hea", end=False) == b""


@pytest.mark.rule("K-83")
@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"nonsense", 400),
        (b"GET /v1/health HTTP/9.9", 505),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1", 414),
        (b"OPTIONS /v1/vaults HTTP/1.1", 405),
        (b"DELETE /v1/vaults HTTP/1.1", 405),
    ],
)
def test_an_odd_request_line_gets_a_problem_document(
    keeper: Keeper, request_line: bytes, status: int
) -> None:
    answer = keeper.send(request_line + f"\r\nHost: 127.0.0.1:{keeper.port}\r\n\r\n".encode())
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["status"] == status
    assert b"Python" not in answer


@pytest.mark.rule("IF-30")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v1/vaults/../health", 404),
        ("POST", "/v1/other", 404),
        ("POST", "/v1/health", 405),
        ("GET", "/v1/vaults/x/commands", 405),
        ("POST", "/v1/vaults/x/commands", 404),
        ("POST", "/v1/vaults/%2e%2e%2f/commands", 404),
    ],
)
def test_an_unknown_address_is_said_to_be_one(keeper: Keeper, method: str, path: str, status: int) -> None:
    assert keeper.ask(method, path, b"{}" if method == "POST" else None)[0] == status


def test_a_client_that_expects_100_continue_gets_it_after_the_guard(keeper: Keeper) -> None:
    body = b'{"verb":"tidy"}'
    answer = keeper.raw("Expect: 100-continue", f"Content-Length: {len(body)}", body=body)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert status_of(keeper.raw("Expect: 100-continue", "Content-Length: 99999999")) == 413


def test_more_callers_than_there_are_threads_for_are_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "_MAX_CONNECTIONS", 1)
    keeper = Keeper(tmp_path)
    with socket.create_connection(("127.0.0.1", keeper.port), timeout=20) as first:
        first.sendall(b"GET ")
        assert keeper.send(b"", end=False) == b""
    keeper.server.stop()


# commands


@pytest.mark.rule("IF-21")
def test_a_command_reaches_the_vault_it_is_meant_for(keeper: Keeper) -> None:
    args: dict[str, object] = {"note": "决策/数据库.md", "values": {"a": "1"}, "dry_run": False, "none": None}
    assert keeper.client().command("set", args) == {"verb": "set", "args": args}
    assert keeper.calls == [(keeper.key, "set", args)]


@pytest.mark.rule("IF-21", "IF-32")
@pytest.mark.parametrize(
    "error",
    [
        errors.UserError("no such batch"),
        errors.UnknownNoteError("x", ("a.md", "b.md")),
        errors.AmbiguousNoteError("x", ("a.md", "b.md")),
        errors.RefusedError("near-duplicate", "say it there"),
        errors.FormatError("Notes", "no marker"),
        errors.ConflictError("somebody else"),
        errors.ChangedMeanwhileError("a.md"),
        errors.VaultBusyError("Notes", 12, "desk"),
        errors.VaultUnavailableError("Notes", "unmounted"),
        errors.VaultkeeperError("something"),
    ],
)
def test_an_error_in_the_keeper_is_the_same_error_here(
    keeper: Keeper, error: errors.VaultkeeperError
) -> None:
    keeper.error = error
    with pytest.raises(errors.VaultkeeperError) as caught:
        keeper.client().command("tidy", {})
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)
    assert vars(caught.value) == vars(error)


@pytest.mark.rule("IF-32")
def test_an_error_of_a_newer_kind_comes_through_as_the_nearest_known_one(keeper: Keeper) -> None:
    class BrandNewError(errors.ConflictError):
        pass

    keeper.error = BrandNewError("held elsewhere")
    with pytest.raises(errors.ConflictError, match="held elsewhere"):
        keeper.client().command("tidy", {})


@pytest.mark.rule("IF-32")
def test_no_error_shows_a_folder_of_this_machine(keeper: Keeper) -> None:
    keeper.error = errors.VaultUnavailableError(str(keeper.vault), f"{keeper.vault}/.dsh-memory is gone")
    answer = keeper.raw("Content-Length: 15", body=b'{"verb":"tidy"}')
    problem = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert str(keeper.vault.parent) not in json.dumps(problem, ensure_ascii=False)
    assert problem["facts"]["vault"] == keeper.vault.name


@pytest.mark.rule("IF-32")
def test_an_unexpected_error_tells_the_caller_nothing(
    keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    keeper.error = ZeroDivisionError("secret/path")
    with pytest.raises(errors.VaultkeeperError, match="its log tells what"):
        keeper.client().command("tidy", {})
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.rule("IF-21")
def test_what_cannot_be_text_is_refused_as_the_users_input(keeper: Keeper) -> None:
    with pytest.raises(errors.UserError):
        keeper.client().command("show", {"note": "\udcff.md"})


@pytest.mark.rule("K-80")
def test_the_token_is_in_no_log(keeper: Keeper, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    keeper.client().command("tidy", {})
    keeper.ask("GET", f"/v1/{keeper.endpoint.token}")
    assert "POST answered with 200" in caplog.text
    assert keeper.endpoint.token not in caplog.text


@pytest.mark.rule("IF-21")
def test_a_keeper_that_dies_during_a_command_is_unavailable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def hang_up() -> None:
            listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        client = Client(Endpoint(url=f"http://127.0.0.1:{port}", token="t", pid=os.getpid()), "key")
        with pytest.raises(errors.VaultUnavailableError, match="went away during `tidy`"):
            client.command("tidy", {})
        thread.join()


@pytest.mark.rule("K-83")
def test_a_caller_that_hangs_up_is_nothing_to_report(
    keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    gone = threading.Event()
    keeper.before = gone.wait
    request = f"POST /v1/vaults/{quote(keeper.key)}/commands HTTP/1.1\r\nHost: 127.0.0.1:{keeper.port}\r\n"
    request += f"Authorization: Bearer {keeper.endpoint.token}\r\nContent-Length: 12\r\n\r\n" + '{"verb":"x"}'
    with socket.create_connection(("127.0.0.1", keeper.port), timeout=20) as caller:
        # Closing with a reset, as a process that is killed does.
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.sendall(request.encode())
        keeper.called.wait()
    gone.set()
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join()
    assert keeper.client().command("tidy", {})
    assert not caplog.text


# finding the keeper


@pytest.mark.rule("IF-21", "IF-31")
def test_without_a_keeper_there_is_nobody_to_connect_to(tmp_path: Path) -> None:
    assert connect(tmp_path / "state", tmp_path) is None


@pytest.mark.rule("IF-31")
def test_a_stopped_keeper_leaves_no_endpoint(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.server.stop()
    keeper.server.stop()
    assert connect(keeper.state, keeper.vault) is None
    assert not list(keeper.state.rglob("endpoint.json"))
    assert not any(thread.name == "api" for thread in threading.enumerate())


@pytest.mark.rule("IF-21")
def test_another_vault_is_not_served(keeper: Keeper, tmp_path: Path) -> None:
    assert connect(keeper.state, tmp_path / "other") is None


@pytest.mark.rule("IF-21", "IF-31")
def test_two_keepers_on_two_vaults_do_not_hide_each_other(tmp_path: Path) -> None:
    first = Keeper(tmp_path / "a")
    second = Keeper(tmp_path / "b")
    second_state, second.state = second.state, first.state
    third = ApiServer(second.command, second.vaults, first.state, "1")
    url = third.start()
    try:
        assert first.endpoint.url == url
        assert connect(first.state, first.vault) is not None
        client = connect(first.state, second.vault)
        assert client is not None
        client.command("tidy", {})
        assert second.calls
        first.server.stop()
        assert first.endpoint.url == url, "only its own endpoint is taken away"
    finally:
        third.stop()
        second.state = second_state
        second.server.stop()


@pytest.mark.rule("IF-31")
@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://evil.example:80"},
        {"url": "http://127.0.0.1:99999"},
        {"url": "http://127.0.0.1:1"},
        {"token": "wrong"},
        {"pid": 0},
        {"pid": 2**40},
        {"pid": "x"},
    ],
    ids=str,
)
def test_an_endpoint_that_leads_nowhere_is_nobody(keeper: Keeper, change: dict[str, object]) -> None:
    for file in endpoint_files(keeper.state, [keeper.key]):
        file.write_text(json.dumps(json.loads(file.read_bytes()) | change), "utf-8")
    assert connect(keeper.state, keeper.vault) is None


@pytest.mark.rule("IF-31")
@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[]", b'{"url": "\xff"}'])
def test_a_damaged_endpoint_is_nobody(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "endpoint.json"
    file.write_bytes(data)
    assert read_endpoint(file) is None


@pytest.mark.rule("IF-31")
def test_an_answer_that_is_no_keepers_is_nobody(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as caller:
                caller.recv(65_536)
                caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        write_endpoint(tmp_path / "endpoint.json", Endpoint(url=url, token="t", pid=os.getpid()))
        assert connect(tmp_path, tmp_path) is None
        thread.join()


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot be asked without harm")
def test_an_ended_process_is_not_alive() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not is_alive(ended.pid)
    assert is_alive(os.getpid())
