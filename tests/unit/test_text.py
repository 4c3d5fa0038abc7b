"""File bytes read as text, and text written as bytes."""

from __future__ import annotations

import pytest

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.messages import message_of
from vaultkeeper.core.text import NotTextError, decode, encode


@pytest.mark.rule("K-4")
@pytest.mark.parametrize(
    "data",
    [
        b"a\nb\n",
        b"a\r\nb\r\n",
        b"a\rb\r",
        b"\xef\xbb\xbfa\r\nb\n",
        b"\xef\xbb\xbf\xef\xbb\xbfa\nb\n",
        "\ufeffa\r\nb\n".encode("utf-16-le"),
        "\ufeffa\nb\n".encode("utf-16-be"),
    ],
)
def test_bom_and_line_ends_of_all_kinds_read_as_the_same_text(data: bytes) -> None:
    assert decode(data) == "a\nb\n"


@pytest.mark.rule("K-4")
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file_is_an_empty_text(data: bytes) -> None:
    assert decode(data) == ""


@pytest.mark.rule("K-5")
@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"ab\xff", "not-utf8", 2),
        ("中".encode("gb18030"), "not-utf8", 0),
        (b"\xff\xfea", "not-utf8", 2),
        (b"\xff\xfe\x00\xd8", "not-utf8", 2),
        (b"ab\0c", "nul-bytes", 2),
        (b"\0" * 10, "nul-bytes", 0),
        (b"a\0\xff", "nul-bytes", 1),
        ("中a".encode("utf-16-le"), "nul-bytes", 3),
        ("a\0".encode("utf-16"), "nul-bytes", 1),
    ],
)
def test_what_is_no_text_is_refused_with_the_place(data: bytes, code: str, offset: int) -> None:
    with pytest.raises(NotTextError) as caught:
        decode(data)
    assert isinstance(caught.value, VaultkeeperError)
    assert (caught.value.code, caught.value.facts) == (code, {"offset": offset})
    finding = Finding("a.md", 0, code, tuple((name, str(fact)) for name, fact in caught.value.facts.items()))
    assert "{" not in message_of(finding, "en")


@pytest.mark.rule("K-4")
def test_text_is_written_without_bom_and_with_lf() -> None:
    assert encode("\ufeffa\r\nb\rc 中") == "a\nb\nc 中".encode()


@pytest.mark.rule("K-5")
def test_half_a_surrogate_pair_is_never_written() -> None:
    with pytest.raises(NotTextError) as caught:
        encode("a\ud800")
    assert (caught.value.code, caught.value.facts) == ("not-utf8", {"offset": 1})
