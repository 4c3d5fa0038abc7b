"""The keeper of one vault: one batch of changes, start to end. One thread, one writer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from vaultkeeper.core.action import Action, Grace, JournalLine, Plan
from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.journal_words import deletion
from vaultkeeper.core.note import Entry, NotePath, Snapshot, Stat
from vaultkeeper.core.parse import parse
from vaultkeeper.core.plan import Candidate, World, may_be_written, plan
from vaultkeeper.core.relations import relation_findings
from vaultkeeper.keeper.census import Census, Moved
from vaultkeeper.keeper.late_save import late_save_candidates
from vaultkeeper.keeper.pages_step import PagesStep
from vaultkeeper.keeper.tools import Tools
from vaultkeeper.keeper.wars import Wars
from vaultkeeper.store.batch import Batch
from vaultkeeper.store.prepare import Receipt

log = logging.getLogger(__name__)

_NO_STAT = Stat(0, 0)

ROUNDS = 5
"""How often `tidy` plans again when files change under it, before it leaves them for the next time."""


@dataclass(slots=True)
class Outcome:
    """What one batch did, or would do."""

    batch: str = ""
    actions: list[Action] = field(default_factory=list)
    """The actions that were done, with the places they really got; all planned ones in a dry run."""
    failed: list[Receipt] = field(default_factory=list)
    changed: set[NotePath] = field(default_factory=set)
    """Notes somebody else wrote meanwhile: they were left and want planning again."""
    waiting: dict[NotePath, Grace] = field(default_factory=dict)


class Keeper:
    """Plans, applies and records; every way of writing to a vault ends in `settle`."""

    def __init__(self, tools: Tools, catalog: Catalog, census: Census, *, fresh: bool) -> None:
        self.tools = tools
        self.catalog = catalog
        self.census = census
        self.pages = PagesStep(tools, census)
        self.wars = Wars()
        self.plan_findings: dict[NotePath, tuple[Finding, ...]] = {}
        """What was noticed while deciding, by note, until that note is planned again."""
        self.fresh = fresh
        """Whether the catalog began empty: then notes without a past are no news to the journal."""
        self.publish: Callable[[dict[str, object]], None] = lambda _event: None
        self._told: set[Finding] = set()
        if fresh:
            self.pages.all_stale = True

    # one batch -------------------------------------------------------------------------------------------------

    def settle(
        self,
        paths: Iterable[NotePath],
        *,
        cause: str,
        ripe: Callable[[NotePath, Grace], bool] = lambda _path, _grace: True,
        commands: Sequence[Candidate] = (),
        extra: Sequence[Action] = (),
        source: str = "vaultkeeper",
        ignore_holds: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Bring these notes to where their format says they should be, and the index pages after them.

        Args:
            paths: notes to look at, as the catalog knows them now (`Census.observe` came first).
            cause: what the history calls the batch (`watch`, `tidy`, `archive` …).
            ripe: which waits are over (K-31).
            commands: edits that somebody asked for; their notes need not be in `paths`.
            extra: actions beside the planned ones, such as a new note.
            source: who is behind it, for the journal.
            ignore_holds: do again what a person took back (`tidy --all`).
            dry_run: change nothing.

        Returns:
            What was done. Files that changed meanwhile stand in `changed`; the caller observes and settles again.
        """
        wanted = set(paths)
        late = late_save_candidates(self.census, wanted)
        asked = {candidate.path for candidate in (*commands, *(candidate for candidate, _ in late))}
        candidates = [
            *commands,
            *(candidate for candidate, _ in late),
            *self._candidates(wanted - asked - {action.path for _, action in late}),
        ]
        world = self._world(ripe, ignore_holds=ignore_holds)
        decided = plan(candidates, world)
        put_off = decided.held | decided.waiting.keys()
        cleared = [action for candidate, action in late if candidate.path not in put_off]
        self._note_findings(wanted | asked, decided)
        lines = decided.lines + self._deletions(wanted)
        if ignore_holds:
            self.pages.all_stale = True
        if dry_run:
            return self._preview(decided, (*extra, *cleared), ignore_holds=ignore_holds)
        batch = self.tools.files.begin(cause=cause, source=source)
        outcome = Outcome(batch=batch.id, waiting=dict(decided.waiting))
        for candidate, action in late:
            if candidate.path in decided.waiting:
                outcome.waiting[action.path] = decided.waiting[candidate.path]
        self._do(batch, (*extra, *decided.actions), outcome, decided)
        if not (outcome.changed or outcome.failed):  # a late save's text must have found its place first
            self._do(batch, cleared, outcome, decided)
        self._mark_settled(decided)
        self._remember_redirects(decided, outcome)
        self._do_pages(batch, outcome, ignore_holds=ignore_holds)
        batch.record(lines)
        batch.finish()
        if not outcome.actions:
            outcome.batch = ""
        self.census.parsed.clear()
        self.fresh = False
        self._tell(outcome)
        return outcome

    def _candidates(self, paths: Iterable[NotePath]) -> list[Candidate]:
        candidates: list[Candidate] = []
        world = self._world(lambda _path, _grace: True, ignore_holds=True)
        for path in paths:
            entry = self.catalog.get(path)
            if entry is None or entry.kind != "memory" or not entry.unsettled:
                continue
            if self.census.may_be_late(path):
                continue
            parsed = self.census.look(path)
            if parsed is None or parsed.snapshot.digest != entry.digest or not may_be_written(parsed, world):
                continue
            candidates.append(Candidate(parsed=parsed, expects=entry.digest))
        return candidates

    def _world(self, ripe: Callable[[NotePath, Grace], bool], *, ignore_holds: bool) -> World:
        tools = self.tools
        return World(
            catalog=self.catalog,
            fmt=tools.fmt,
            options=tools.options,
            now=tools.clock(),
            born=self.census.born,
            look=self.census.look,
            ripe=ripe,
            holds=(lambda _action: False) if ignore_holds else tools.files.held.holds,
            left_alone=lambda path: self.census.left_alone(path) or self.wars.is_on(path),
            journal_new=not self.fresh,
            redirects=self.census.redirects,
        )

    def _note_findings(self, paths: Iterable[NotePath], decided: Plan) -> None:
        for path in paths:
            self.plan_findings.pop(path, None)
        for finding in decided.findings:
            path = NotePath(finding.path)
            self.plan_findings[path] = (*self.plan_findings.get(path, ()), finding)

    def _deletions(self, paths: Collection[NotePath]) -> tuple[JournalLine, ...]:
        """Journal lines for memories that are gone for good (K-39: not for those that came back elsewhere)."""
        lines: list[JournalLine] = []
        for note_id, lost in list(self.census.lost.items()):
            if self.catalog.holders(note_id):
                continue
            if lost.entry.path in paths:
                lines.append(deletion(note_id, lost.entry.base, lost.entry.path))
        return tuple(lines)

    # applying --------------------------------------------------------------------------------------------------

    def _do(self, batch: Batch, actions: Sequence[Action], outcome: Outcome, decided: Plan) -> None:
        for receipt in batch.apply(actions):
            if receipt.state == "done":
                self._took_place(receipt, decided)
                outcome.actions.append(_as_done(receipt))
            elif receipt.state == "changed":
                outcome.changed.add(receipt.action.path)
            else:
                outcome.failed.append(receipt)
                self._add_finding("action-failed", receipt)
            if receipt.taken and receipt.action.to is not None:
                found_taken = found("name-taken", receipt.path, wanted=receipt.action.to, taken=receipt.path)
                self.plan_findings[receipt.path] = (*self.plan_findings.get(receipt.path, ()), found_taken)

    def _add_finding(self, code: str, receipt: Receipt) -> None:
        path = receipt.action.path
        finding = found(code, path, op=receipt.action.op, reason=receipt.reason)
        self.plan_findings[path] = (*self.plan_findings.get(path, ()), finding)

    def _took_place(self, receipt: Receipt, decided: Plan) -> None:
        """The catalog after one action that was done."""
        action, now = receipt.action, self.tools.clock()
        before = self.catalog.get(action.path)
        if receipt.path != action.path or action.op == "trash":
            self.census.record(action.path, None)
            self._carry_findings(action.path, receipt.path)
        if action.op == "trash" or receipt.digest is None or receipt.stat is None:
            return
        if before is not None and before.record is not None and receipt.path != action.path:
            self.census.moved[action.path] = Moved(receipt.path, before.record.id, action.expects or "", now)
        if action.data is not None:
            parsed = parse(Snapshot(receipt.path, action.data, receipt.stat, receipt.digest), self.tools.fmt)
            entry = self.census.settle_entry(
                parsed, before.base if before else None, settled=self._is_settled(action, before, decided)
            )
            entry = msgspec.structs.replace(entry, before=before.base if before is not None else None)
            self.wars.wrote(receipt.path, action.expects, now)
        else:
            assert before is not None
            entry = msgspec.structs.replace(before, path=receipt.path, unsettled=False)
            if entry.base is not None:
                entry = msgspec.structs.replace(
                    entry, base=msgspec.structs.replace(entry.base, path=receipt.path)
                )
            entry = msgspec.structs.replace(self._rebased(entry), before=before.base)
        self.census.record(receipt.path, entry)

    def _is_settled(self, action: Action, before: Entry | None, decided: Plan) -> bool:
        """Whether nothing is left to do for a rewritten note: not so when only its links were mended under an edit."""
        if action.rule != "K-41" or before is None:
            return True
        return action.path in decided.settled or not before.unsettled

    def _rebased(self, entry: Entry) -> Entry:
        """A note that was only moved: what it says now is what later decisions compare with."""
        parsed = self.census.look(entry.path)
        if parsed is None or parsed.snapshot.digest != entry.digest or parsed.kind != "memory":
            return entry
        return self.census.settle_entry(parsed, entry.base, settled=True)

    def _carry_findings(self, path: NotePath, target: NotePath) -> None:
        moved = self.plan_findings.pop(path, ())
        if moved and target != path:
            self.plan_findings[target] = tuple(
                msgspec.structs.replace(finding, path=target) for finding in moved if finding.code != "held"
            )

    def _mark_settled(self, decided: Plan) -> None:
        for path in decided.settled:
            entry, parsed = self.catalog.get(path), self.census.parsed.get(path)
            if entry is None or parsed is None or parsed.snapshot.digest != entry.digest:
                continue
            self.census.record(path, self.census.settle_entry(parsed, entry.base, settled=True))

    def _remember_redirects(self, decided: Plan, outcome: Outcome) -> None:
        """Links that could not be mended now are mended when their notes are planned again (K-41)."""
        missed = outcome.changed | {receipt.action.path for receipt in outcome.failed}
        self.census.redirects = dict(decided.journeys) if missed & decided.mended else {}

    def _do_pages(self, batch: Batch, outcome: Outcome, *, ignore_holds: bool) -> None:
        for _ in range(ROUNDS):
            actions = self.pages.actions(self.findings(), ignore_holds=ignore_holds)
            if not actions:
                return
            again = False
            for receipt in batch.apply(actions):
                if receipt.state == "done":
                    self.pages.took_place(receipt)
                    outcome.actions.append(_as_done(receipt))
                elif receipt.state == "changed":
                    self.pages.stale_again(receipt.action.path)
                    again = True
                else:
                    outcome.failed.append(receipt)
                    self._add_finding("action-failed", receipt)
                    self.pages.all_stale = True
            if not again:
                return

    def _tell(self, outcome: Outcome) -> None:
        for action in outcome.actions:
            self.publish({"event": "action", "batch": outcome.batch, **action_json(action)})
        if outcome.actions:
            self.publish({"event": "batch", "batch": outcome.batch, "actions": len(outcome.actions)})

    # looking ahead ---------------------------------------------------------------------------------------------

    def _preview(self, decided: Plan, extra: Sequence[Action], *, ignore_holds: bool) -> Outcome:
        """What `settle` would do: the same steps on a copy of the catalog, with no file written (K-51)."""
        outcome = Outcome(waiting=dict(decided.waiting))
        copy = Catalog(self.catalog.entries)
        for action in (*extra, *decided.actions):
            outcome.actions.append(action)
            self._foresee(copy, action)
        outcome.actions += self.pages.preview(copy, self._findings(copy), ignore_holds=ignore_holds)
        return outcome

    def _foresee(self, copy: Catalog, action: Action) -> None:
        before = copy.get(action.path)
        target = action.to or action.path
        if before is not None and (target != action.path or action.op == "trash"):
            copy.drop(action.path)
        if action.op == "trash":
            return
        if action.data is not None:
            like = self.census.look(action.path)
            stat = like.snapshot.stat if like is not None else None
            parsed = parse(
                Snapshot(target, action.data, stat or _NO_STAT, action.expects or ""), self.tools.fmt
            )
            copy.put(self.census.settle_entry(parsed, before.base if before else None, settled=True))
        elif before is not None:
            copy.put(msgspec.structs.replace(before, path=target))

    def new_findings(self) -> list[Finding]:
        """Findings that were not there when this was last asked; the first time all of them are new."""
        now = set(self.findings())
        news, self._told = sorted(now - self._told), now
        return news

    # what is wrong ---------------------------------------------------------------------------------------------

    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong with the vault now, in order of path, line and code, doubles kept out."""
        return self._findings(self.catalog)

    def _findings(self, catalog: Catalog) -> tuple[Finding, ...]:
        found_now: set[Finding] = set(self.census.listing_findings) | set(self.tools.settings_findings)
        for entry in catalog:
            if entry.findings:
                found_now.update(entry.findings)
        for findings in self.plan_findings.values():
            found_now.update(findings)
        found_now.update(self.pages.findings.values())
        found_now.update(relation_findings(catalog))
        found_now.update(self.wars.findings())
        return tuple(sorted(found_now))


def _as_done(receipt: Receipt) -> Action:
    """The action with the place it really got."""
    action = receipt.action
    if action.op == "create":
        return replace(action, path=receipt.path)
    return replace(action, to=receipt.path) if action.to is not None else action


def action_json(action: Action) -> dict[str, object]:
    """IF-3's shape of an action."""
    return {
        "op": action.op,
        "path": action.path,
        "to": action.to,
        "rule": action.rule,
        "reason": action.reason,
    }
