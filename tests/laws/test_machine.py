"""A person, another tool, the keeper and a crash act in any order on a real folder; what must hold, holds (K-1 … K-39)."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.faults import Hook, die_at
from tests.resident import Resident, seen
from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.errors import UserError
from vaultkeeper.core.note import NotePath
from vaultkeeper.keeper import session
from vaultkeeper.keeper.census import Census

FOLDERS = ("Tasks", "Knowledge", "Projects", "Inbox", "Archive", "Conflicts", "Reading", "Reading/深", "")
STEMS = ("alpha", "Alpha", "beta", "茶", "gamma 2")
STATUSES = ("active", "archived", "pending", "stale", "Actve", "完成", "", '"active"', "conflict")
TYPES = ("task", "knowledge", "project", "Task", "nonsense", "决定")
WORD = re.compile(rb"word\d+z")

folders, stems = st.sampled_from(FOLDERS), st.sampled_from(STEMS)
picks = st.integers(0, 99)
LIVES = int(os.environ.get("LIVES", "25"))
"""How many lives are lived; more at night."""


def once_at(at: int, act: Callable[[], object]) -> Hook:
    """Do something before the disk's call of that number."""

    def hook(number: int, _name: str, _args: object) -> None:
        if number == at:
            act()

    return hook


class Life(RuleBasedStateMachine):
    """The files of the vault are the model: what a person typed and did not delete must be in them."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="life-"))
        self.vault = Resident(self.base)
        self.vault.init()
        self.made = set(self.vault.files())
        self.undone = False
        """Whether pages may stand as an undo restored them, so not as the notes would have them."""
        self.typed: set[bytes] = set()
        self.forgiven: set[bytes] = set()
        """Words that stood where an editor saved over them late: they are in the history."""
        self.count = 0
        self.open: tuple[str, bytes] | None = None
        """What an editor holds: the path it will save to, and the text."""
        self.binned: tuple[str, bytes] | None = None
        self.still = False
        """Whether the keeper has heard of everything."""

    def teardown(self) -> None:
        """Let everything settle once more, then clear away."""
        try:
            self.keeper_hears_all()
            self.nothing_typed_is_lost()
        finally:
            self.vault.crash()
            shutil.rmtree(self.base, ignore_errors=True)

    @initialize(count=st.integers(0, 5), data=st.data())
    def a_vault_in_use(self, count: int, data: st.DataObject) -> None:
        """Some memories that need nothing, with links between them."""
        for stem in STEMS[:count]:
            kind, folder = data.draw(st.sampled_from([("task", "Tasks"), ("knowledge", "Knowledge")]))
            if not (self.vault.root / folder / f"{stem}.md").exists():
                self.person_writes_a_note(folder, stem, kind, "active", 0, data.draw(stems))
        self.keeper_hears_all()

    # the person ------------------------------------------------------------------------------------------------

    def _word(self) -> bytes:
        self.count += 1
        word = b"word%dz" % self.count
        self.typed.add(word)
        return word

    def _pick(self, number: int) -> str | None:
        notes = sorted(self.vault.notes().keys() - self.made)
        return notes[number % len(notes)] if notes else None

    def _acts(self) -> None:
        self.vault.tick()
        self.still = False

    def _path(self, folder: str, stem: str) -> str:
        return f"{folder}/{stem}.md" if folder else f"{stem}.md"

    def _save(self, path: str, data: bytes) -> None:
        self.vault.write(path, data)
        note(f"saved {path}")

    @rule(
        folder=folders,
        stem=stems,
        kind=st.sampled_from(TYPES),
        status=st.sampled_from(STATUSES),
        shape=st.integers(0, 4),
        link=stems,
    )
    def person_writes_a_note(
        self, folder: str, stem: str, kind: str, status: str, shape: int, link: str
    ) -> None:
        path = self._path(folder, stem)
        if (self.vault.root / path).exists():
            return
        self._acts()
        self.count += 1
        lines = [f"type: {kind}", f"status: {status}", f"title: {stem}"]
        if shape in {0, 1}:
            lines.insert(0, f"id: mem_20260301t080000_{self.count:08x}")
        if shape == 1:
            lines += ["created_at: 2026-03-01 07:00", "tags: a, b", "# a comment", "mine:   {x: 1}"]
        word = self._word().decode()
        text = "\n".join(["---", *lines, "---", "", f"# {stem}", "", f"{word} [[{link}]]", ""])
        if shape == 3:
            text = text.replace("\n", "\r\n")
        if shape == 4:
            text = f"{word} a plain note, [[{link}]] and [l](Tasks/{link}.md)"
        self._save(path, text.encode())

    @rule(number=picks)
    def person_types(self, number: int) -> None:
        path = self._pick(number)
        if path is None:
            return
        self._acts()
        data = (self.vault.root / path).read_bytes()
        self._save(path, data + b"\n" + self._word() + b"\n")

    @rule(
        number=picks,
        key=st.sampled_from(["status", "type", "title"]),
        value=st.sampled_from(STATUSES + TYPES),
    )
    def person_edits_a_field(self, number: int, key: str, value: str) -> None:
        path = self._pick(number)
        if path is None:
            return
        self._acts()
        data = (self.vault.root / path).read_bytes()
        self._save(
            path, re.sub(rb"(?m)^%s:.*?(?=\r?$)" % key.encode(), f"{key}: {value}".encode(), data, count=1)
        )

    @rule(number=picks)
    def person_opens_a_note(self, number: int) -> None:
        path = self._pick(number)
        if path is not None:
            self.open = (path, (self.vault.root / path).read_bytes())

    @precondition(lambda self: self.open is not None)
    @rule(renames=st.booleans())
    def person_saves_what_is_open(self, renames: bool) -> None:
        """The editor knows nothing of what others wrote meanwhile, nor that the note may have moved."""
        assert self.open is not None
        path, data = self.open
        self._acts()
        mine = set(WORD.findall(data))
        ids = re.findall(rb"(?m)^id: *(\S+)", data[:400])
        for (
            other
        ) in self.vault.notes().values():  # its own later words are typed over; elsewhere they are merged
            if (ids and b"id: " + ids[0] in other) or other == data:
                self.forgiven |= set(WORD.findall(other)) - mine
        here = self.vault.root / path
        if here.exists():
            self._lose(here)
        data += b"\n" + self._word() + b"\n"
        self.typed |= mine
        if renames:
            self.vault.write(path + ".tmp", data)
            os.replace(self.vault.root / (path + ".tmp"), here)
        else:
            self.vault.write(path, data)
        self.open = (path, data)
        note(f"saved open {path}")

    @rule(number=picks, status=st.sampled_from(["archived", "active", "pending"]), renames=st.booleans())
    def person_saves_late(self, number: int, status: str, renames: bool) -> None:
        """The keeper moves a note that is open in an editor, and the editor saves it where it was."""
        self.person_opens_a_note(number)
        if self.open is None:
            return
        path, data = self.open
        if not (self.vault.root / path).exists():
            return
        self._save(path, re.sub(rb"(?m)^status:.*?(?=\r?$)", f"status: {status}".encode(), data, count=1))
        self._acts()
        self.keeper_hears_all()
        self.person_saves_what_is_open(renames)

    def _is_left_alone(self, path: str) -> bool:
        """Whether the keeper may not touch the note (K-14, LT-26 …), so that its place means nothing."""
        assert self.vault.keeper is not None
        parsed = self.vault.keeper.census.look(NotePath(path))
        return parsed is None or bool(parsed.frozen)

    def _lose(self, file: Path) -> None:
        """What stands in a file is not typed anywhere else, and goes with it by the person's own hand."""
        gone = set(WORD.findall(file.read_bytes()))
        for path, data in self.vault.files().items():
            if path != file.relative_to(self.vault.root).as_posix():
                gone -= set(WORD.findall(data))
        self.typed -= gone

    @rule(number=picks)
    def person_deletes(self, number: int) -> None:
        path = self._pick(number)
        if path is None:
            return
        self._acts()
        file = self.vault.root / path
        self.binned = (path, file.read_bytes())
        self._lose(file)
        file.unlink()
        note(f"deleted {path}")

    @precondition(lambda self: self.binned is not None)
    @rule()
    def person_restores(self) -> None:
        assert self.binned is not None
        path, data = self.binned
        if (self.vault.root / path).exists():
            return
        self._acts()
        self._save(path, data)
        self.typed |= set(WORD.findall(data))
        self.binned = None

    @rule(number=picks, folder=folders, stem=st.none() | stems)
    def person_moves(self, number: int, folder: str, stem: str | None) -> None:
        path = self._pick(number)
        if path is None:
            return
        target = self._path(folder, stem or Path(path).stem)
        if (self.vault.root / target).exists():
            return
        self._acts()
        (self.vault.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.vault.root / path).rename(self.vault.root / target)
        note(f"moved {path} to {target}")

    @precondition(lambda self: self.still)
    @rule(number=picks)
    def person_drags_into_the_archive(self, number: int) -> None:
        """K-35: that makes the note archived, whether the keeper was there to see it or not."""
        path = self._pick(number)
        if path is None or self.vault.keeper is None:
            return
        entry = self.vault.keeper.catalog.get(NotePath(path))
        target = f"Archive/dragged {self.count}.md"
        if entry is None or entry.record is None or entry.unsettled or (self.vault.root / target).exists():
            return
        if self._is_left_alone(path) or len(self.vault.keeper.catalog.holders(entry.record.id)) > 1:
            return
        self._acts()
        if number % 2:
            self.vault.stop()
        (self.vault.root / "Archive").mkdir(exist_ok=True)
        (self.vault.root / path).rename(self.vault.root / target)
        note(f"dragged {path} to {target}")
        self.keeper_hears_all()
        assert self.vault.keeper is not None
        after = self.vault.keeper.catalog.get(NotePath(target))
        assert after is not None
        assert after.record is not None
        assert after.record.status in {"archived", "superseded"}

    @rule(number=picks, folder=folders, stem=stems)
    def person_copies(self, number: int, folder: str, stem: str) -> None:
        path, target = self._pick(number), self._path(folder, stem)
        if path is None or (self.vault.root / target).exists():
            return
        self._acts()
        self._save(target, (self.vault.root / path).read_bytes())

    @rule(
        folder=st.sampled_from(["Tasks", "Reading", "Archive", "Knowledge"]),
        into=st.sampled_from(["Reading/x", "Archive/y", "Projects"]),
    )
    def person_moves_a_folder(self, folder: str, into: str) -> None:
        source, target = self.vault.root / folder, self.vault.root / into / folder
        if not source.is_dir() or target.exists() or into.startswith(folder):
            return
        self._acts()
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        note(f"moved folder {folder} into {into}")

    # another tool ----------------------------------------------------------------------------------------------

    @rule(number=picks)
    def tool_rewrites_the_frontmatter(self, number: int) -> None:
        """As a YAML dumper would: quoted words, keys in another order."""
        path = self._pick(number)
        if path is None:
            return
        self._acts()
        data = (self.vault.root / path).read_bytes()
        found = re.match(rb"---\n(.*?)\n---\n", data, re.DOTALL)
        if found is None:
            return
        lines = found[1].split(b"\n")
        if any(line.startswith((b" ", b"-")) for line in lines):
            return
        self._save(path, b"---\n" + b"\n".join(sorted(lines)) + b"\n---\n" + data[found.end() :])

    @rule(number=picks, at=st.integers(0, 60))
    def tool_cuts_a_note_short(self, number: int, at: int) -> None:
        path = self._pick(number)
        if path is None:
            return
        self._acts()
        data = (self.vault.root / path).read_bytes()
        self._lose(self.vault.root / path)
        self._save(path, data[:at])
        self.typed |= set(WORD.findall(data[:at]))

    @rule(what=st.sampled_from([b"", b"nonsense", b"---\ntype: task\n---\nx\n", None]), number=picks)
    def tool_spoils_an_index_page(self, what: bytes | None, number: int) -> None:
        pages = (
            sorted((self.vault.root / "Index").glob("*.md")) if (self.vault.root / "Index").is_dir() else []
        )
        if not pages:
            return
        self._acts()
        page = pages[number % len(pages)]
        self._lose(page)
        if what is None:
            page.unlink()
        else:
            page.write_bytes(what)
            self.vault.stamp(page)

    # time and the keeper ---------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.2, 5, 70, 86_400, -3_600]))
    def time_passes(self, seconds: float) -> None:
        self.vault.tick(seconds)

    @rule()
    def keeper_hears_all(self) -> None:
        self.vault.tick()
        self.vault.hear()
        self.still = True

    @precondition(lambda self: self.vault.keeper is not None)
    @rule(number=st.integers(0, 7))
    def keeper_hears_of_some(self, number: int) -> None:
        keeper = self.vault.start()
        changed, gone = keeper.census.difference(keeper.census.list_files())
        paths = [path for at, path in enumerate([*changed, *gone]) if (number >> at % 3) & 1]
        self.vault.hear(paths)

    @rule()
    def keeper_ends(self) -> None:
        self.vault.stop()

    @rule()
    def keeper_crashes(self) -> None:
        self.vault.crash()

    @rule(at=st.integers(1, 120))
    def keeper_crashes_at_work(self, at: int) -> None:
        self.vault.tick()
        self.still = not self.vault.hear_until_killed(die_at(at))

    @rule(at=st.integers(1, 80), number=picks, what=st.sampled_from(["types", "moves", "deletes"]))
    def person_acts_while_the_keeper_works(self, at: int, number: int, what: str) -> None:
        """At one call to the disk, the keeper is halted and a person does something."""
        self.vault.tick()
        acts = {
            "types": lambda: self.person_types(number),
            "moves": lambda: self.person_moves(number, "Reading", None),
            "deletes": lambda: self.person_deletes(number),
        }
        self.vault.hear_interrupted(once_at(at, acts[what]))
        self.still = False

    @rule()
    def catalog_is_deleted(self) -> None:
        self.vault.forget()
        self.still = False

    @rule()
    def person_undoes(self) -> None:
        self.vault.tick()
        try:
            self.vault.ask("undo")
        except UserError:
            return
        self.still, self.undone = False, True
        note("undone")

    # what holds ------------------------------------------------------------------------------------------------

    @invariant()
    def nothing_typed_is_lost(self) -> None:
        there: set[bytes] = set()
        for data in self.vault.files(private=True).values():
            there |= set(WORD.findall(data))
        missing = self.typed - there
        if missing:
            hidden = set(WORD.findall(self.vault.history()))
            assert missing <= self.forgiven & hidden, f"lost: {missing - (self.forgiven & hidden)}"
            self.typed -= missing

    @invariant()
    def at_rest_all_is_in_order(self) -> None:
        if not self.still or self.vault.keeper is None:
            return
        vault, keeper = self.vault, self.vault.keeper
        assert vault.open_batches() == []
        assert not [
            path
            for path in vault.files(private=True)
            if ".vaultkeeper" in path and not path.startswith(".dsh")
        ]
        before = vault.files()
        if not self.undone:
            assert keeper.pages.preview(keeper.catalog, keeper.findings()) == []
        assert keeper.settle(session.refresh(keeper, None), cause="watch").actions == []
        again = vault.ask("tidy")
        assert again["actions"] == [], again["actions"]
        assert vault.files() == before
        fresh = Census(keeper.tools, Catalog({}))
        fresh.observe(fresh.list_files().files)
        assert seen(fresh.catalog) == seen(keeper.catalog)

    @invariant()
    def the_journal_is_whole(self) -> None:
        self.vault.journal()


TestLife = pytest.mark.rule("K-1", "K-6", "K-21", "K-22", "K-23", "K-39", "K-50")(
    pytest.mark.timeout(120 + 6 * LIVES)(Life.TestCase)
)
TestLife.settings = settings(
    max_examples=LIVES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
