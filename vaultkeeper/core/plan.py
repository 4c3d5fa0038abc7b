"""Candidates × catalog → Plan: decides for several notes at once, finds free names, mends links. Pure but for `look`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count

from vaultkeeper.core.action import Action, Grace, JournalLine, Plan
from vaultkeeper.core.catalog import Catalog, link_key
from vaultkeeper.core.decide import Decision, decide, new_file_name
from vaultkeeper.core.fields import known_keys
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.format import Format
from vaultkeeper.core.frontmatter import read_frontmatter
from vaultkeeper.core.journal_words import line_for
from vaultkeeper.core.links import Resolver, relink
from vaultkeeper.core.note import Base, Entry, NotePath, Record
from vaultkeeper.core.options import Options
from vaultkeeper.core.parse import Parsed, record_of
from vaultkeeper.core.slug import numbered, same_name_key, split_path
from vaultkeeper.core.text import encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One memory to plan: what it says, or what a command wants it to say, and which bytes stand on disk."""

    parsed: Parsed
    expects: str
    """Digest of the file on disk, which an action will insist on."""
    edited: bool = False
    """`parsed` is not what stands on disk, so its text has to be written even if it is right."""
    commanded: bool = False
    """A person or an agent asked for it by name: nothing holds it back, and it is dated now."""
    rule: str = ""
    reason: str = ""
    journal_op: str = ""
    source: str = "vaultkeeper"

    @property
    def path(self) -> NotePath:
        """Where the note stands."""
        return self.parsed.snapshot.path


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What planning may look at besides the candidates."""

    catalog: Catalog
    fmt: Format
    options: Options
    now: datetime
    born: Callable[[Parsed], str]
    """Canonical time for a note that tells none (LT-33)."""
    look: Callable[[NotePath], Parsed | None]
    """The present bytes of another note whose links may need mending; None: it is gone or cannot be read."""
    ripe: Callable[[NotePath, Grace], bool] = lambda _path, _grace: True
    """Whether a note has been quiet for that long."""
    holds: Callable[[Action], bool] = lambda _action: False
    """Whether a person took this very action back."""
    left_alone: Callable[[NotePath], bool] = lambda _path: False
    """Whether the note must not be touched now: excluded by the owner, or fought over with another tool."""
    journal_new: bool = True
    """Whether a note without a past is news; not so when the whole catalog is new."""
    redirects: Mapping[NotePath, NotePath] = field(default_factory=dict)
    """Where notes went, by where they stood, whose links were not all mended at the time (K-41)."""


@dataclass(slots=True)
class _Draft:
    """A plan in the making; one per call."""

    findings: list[Finding] = field(default_factory=list)
    waiting: dict[NotePath, Grace] = field(default_factory=dict)
    held: set[NotePath] = field(default_factory=set)
    settled: set[NotePath] = field(default_factory=set)
    lines: list[JournalLine] = field(default_factory=list)
    wanted: dict[NotePath, tuple[Candidate, Decision]] = field(default_factory=dict)
    texts: dict[NotePath, str] = field(default_factory=dict)
    links_only: dict[NotePath, Parsed] = field(default_factory=dict)
    journeys: dict[NotePath, NotePath] = field(default_factory=dict)
    mended: set[NotePath] = field(default_factory=set)


def plan(candidates: Sequence[Candidate], world: World) -> Plan:
    """Decide what should happen to these notes; no actions when all of them are right (K-6, K-7).

    Args:
        candidates: memories that may be written (`frozen` empty, no doubled id), in any order.
        world: the rest of the vault and the owner's settings.

    Returns:
        Actions in order of path, each naming the bytes it was made from.
    """
    draft = _Draft()
    for candidate in sorted(candidates, key=lambda each: each.path):
        _decide_one(candidate, world, draft)
    moves = _name_moves(draft, world)
    origins = _origins(candidates, world)
    redirects = _open_redirects(origins, world)
    if moves or origins or redirects:
        _mend_links(draft, moves, origins, redirects, world)
    actions = [_action(candidate, decision, draft, world) for candidate, decision in draft.wanted.values()]
    actions += [_links_action(parsed, draft) for parsed in draft.links_only.values()]
    return Plan(
        actions=tuple(sorted(actions, key=lambda action: action.path)),
        findings=tuple(sorted(draft.findings)),
        waiting=draft.waiting,
        held=frozenset(draft.held),
        settled=frozenset(draft.settled),
        lines=tuple(draft.lines),
        taken=moves,
        journeys=draft.journeys,
        mended=frozenset(draft.mended),
    )


def may_be_written(parsed: Parsed, world: World) -> bool:
    """Whether the keeper may move or rewrite the note: it can, nobody forbade it, and its id is its own."""
    if parsed.kind not in {"memory", "plain"} or parsed.frozen or world.left_alone(parsed.snapshot.path):
        return False
    return parsed.fields is None or len(world.catalog.holders(parsed.fields.id)) <= 1


def _base(candidate: Candidate, world: World) -> Base | None:
    entry = world.catalog.get(candidate.path)
    return entry.base if entry is not None else None


def _decide_one(candidate: Candidate, world: World, draft: _Draft) -> None:
    base = _base(candidate, world)
    decision = decide(
        candidate.parsed, base, world.fmt, world.options, world.now, commanded=candidate.commanded
    )
    draft.findings += decision.findings
    path = candidate.path
    if decision.text is None and decision.path == path and not candidate.edited:
        if not decision.findings or decision.findings[0].code != "patch-refused":
            draft.settled.add(path)
            draft.lines += _observed(candidate, base, decision, world)
        return
    grace = "settle" if candidate.edited and decision.grace == "touch" else decision.grace
    if not candidate.commanded and not world.ripe(path, grace):
        draft.waiting[path] = grace
        return
    probe = _raw_action(candidate, decision, decision.path)
    if not candidate.commanded and world.holds(probe):
        draft.held.add(path)
        draft.findings.append(found("held", path, reason=decision.reason))
        return
    draft.wanted[path] = (candidate, decision)
    if decision.text is not None or candidate.edited:
        draft.texts[path] = decision.text if decision.text is not None else candidate.parsed.text


def _observed(candidate: Candidate, base: Base | None, decision: Decision, world: World) -> list[JournalLine]:
    """The journal's line for what somebody else did to a note that needs nothing more."""
    parsed = candidate.parsed
    record = record_of(parsed, world.fmt, world.born(parsed))
    if base is None:
        if not world.journal_new:
            return []
    elif (
        base.content == parsed.content
        and base.path == candidate.path
        and base.updated_at == record.updated_at
    ):
        return []
    return [line_for(record, base, decision, source="outside")]


def _name_moves(draft: _Draft, world: World) -> dict[NotePath, NotePath]:
    """Give every moved note a free name (K-22, K-25); decisions are taken in order of path, so that all agree."""
    moves: dict[NotePath, NotePath] = {}
    given: set[str] = set()
    for path, (candidate, decision) in draft.wanted.items():
        if decision.path == path:
            continue
        instead = _with_id(candidate, decision, world.options)
        target = free_name(decision.path, world.catalog, given, besides=path, instead=instead)
        if target not in {decision.path, instead}:
            draft.findings.append(found("name-taken", path, wanted=decision.path, taken=target))
        if target != decision.path:
            draft.wanted[path] = (candidate, replace(decision, path=target))
        given.add(same_name_key(target))
        moves[path] = target
    return moves


def _with_id(candidate: Candidate, decision: Decision, options: Options) -> NotePath | None:
    """The place of a note that is renamed after its title, with its id in its name; None for one that keeps its name."""
    (folder, name), fields = split_path(decision.path), candidate.parsed.fields
    if fields is None or name == split_path(candidate.path)[1]:
        return None
    return NotePath(f"{folder}/{new_file_name(decision.title, fields.id, options, collides=True)}")


def free_name(
    wanted: NotePath,
    catalog: Catalog,
    given: set[str],
    *,
    besides: NotePath | None = None,
    instead: NotePath | None = None,
) -> NotePath:
    """`wanted`, or where that is taken `instead`, or with the next free ` 2`, ` 3` … (K-22, LT-12).

    Args:
        wanted: the name that a note should have.
        catalog: tells which names are taken.
        given: keys of the names that others of the same plan get.
        besides: the note that gives its own name up.
        instead: a name to try before any number.
    """
    own = same_name_key(besides) if besides is not None else ""
    names = chain([wanted] if instead is None else [wanted, instead], _numbered(instead or wanted))
    return next(
        name
        for name in names
        if (key := same_name_key(name)) not in given and (key == own or not catalog.name_taken(name))
    )


def _numbered(path: NotePath) -> Iterator[NotePath]:
    return (NotePath(numbered(path, number)) for number in count(2))


def _origins(candidates: Sequence[Candidate], world: World) -> dict[NotePath, NotePath]:
    """Where notes that a person moved stood before, by where they stand: their links need mending as well."""
    origins: dict[NotePath, NotePath] = {}
    for candidate in candidates:
        base = _base(candidate, world)
        if base is not None and base.path != candidate.path and NotePath(base.path) not in world.catalog:
            origins[candidate.path] = NotePath(base.path)
    return origins


def _open_redirects(origins: Mapping[NotePath, NotePath], world: World) -> dict[NotePath, NotePath]:
    """Earlier moves that still matter: the note is where it went, and nothing else stands in its old place."""
    catalog = world.catalog
    return {
        old: new
        for old, new in world.redirects.items()
        if old not in catalog and new in catalog and new not in origins
    }


def _mend_links(
    draft: _Draft,
    moves: Mapping[NotePath, NotePath],
    origins: Mapping[NotePath, NotePath],
    redirects: Mapping[NotePath, NotePath],
    world: World,
) -> None:
    """K-41: in moved notes and in those that link to them, rewrite what would no longer reach its note."""
    came = {new: old for old, new in redirects.items()} | dict(origins)
    before = world.catalog.resolver.after(came) if came else world.catalog.resolver
    after = world.catalog.resolver.after(moves)
    travelled = {path for path in origins if path in draft.wanted or path in draft.settled} | set(moves)
    journeys = {old: moves.get(new, new) for old, new in redirects.items()}
    journeys |= {origins.get(path, path): moves.get(path, path) for path in sorted(travelled)}
    draft.journeys = journeys
    concerned = travelled | set(_sources(journeys, before, after, world.catalog))
    for path in sorted(concerned):
        way = _Way(origins.get(path, path), moves.get(path, path), before, after, journeys)
        _mend_one(path, draft, way, world)


def _sources(
    journeys: Mapping[NotePath, NotePath], before: Resolver, after: Resolver, catalog: Catalog
) -> Iterator[NotePath]:
    """Notes with links that these journeys may break; a bare name that only one file has still reaches it."""
    for old, new in journeys.items():
        name = link_key(old)
        alone = before.is_alone(old) and after.is_alone(new) and name == link_key(new)
        for source in catalog.linking_to(old):
            entry = catalog.get(source)
            for link in entry.links if entry is not None else ():
                bare = "/" not in link and not link.lower().endswith(".md")
                if link_key(link) == name and not (alone and bare):
                    yield source
                    break


@dataclass(frozen=True, slots=True)
class _Way:
    """How one note travels, among all that do; arguments of `links.relink`."""

    old_path: NotePath
    new_path: NotePath
    before: Resolver
    after: Resolver
    journeys: Mapping[NotePath, NotePath]


def _mend_one(path: NotePath, draft: _Draft, way: _Way, world: World) -> None:
    entry = world.catalog.get(path)
    if entry is None or entry.kind == "page" or not entry.links:
        return
    parsed = draft.wanted[path][0].parsed if path in draft.wanted else world.look(path)
    if parsed is None or (path not in draft.wanted and not may_be_written(parsed, world)):
        return
    text = draft.texts.get(path, parsed.text)
    body_at = parsed.body_at
    if text is not parsed.text:
        body_at = read_frontmatter(text, path, known_keys(world.fmt)).body_at
    mended = relink(text, body_at, way.old_path, way.new_path, way.before, way.after, way.journeys)
    if mended == text:
        return
    draft.texts[path] = mended
    draft.mended.add(path)
    if path not in draft.wanted:
        draft.links_only[path] = parsed


def _raw_action(candidate: Candidate, decision: Decision, target: NotePath) -> Action:
    """The action as far as `holds` looks at it."""
    moved = target != candidate.path
    return Action(
        op="move" if moved else "rewrite",
        path=candidate.path,
        to=target if moved else None,
        expects=candidate.expects,
        rule=candidate.rule or decision.rule,
        reason=candidate.reason or decision.reason,
    )


def _action(candidate: Candidate, decision: Decision, draft: _Draft, world: World) -> Action:
    text = draft.texts.get(candidate.path)
    record = record_of(candidate.parsed, world.fmt, world.born(candidate.parsed))
    base = _base(candidate, world)
    lines: tuple[JournalLine, ...] = ()
    if base is not None or world.journal_new or candidate.commanded:
        lines = (
            line_for(
                record,
                base,
                decision,
                op=candidate.journal_op,
                reason=candidate.reason,
                source=candidate.source,
                came_from=candidate.path if base is None else None,
            ),
        )
    raw = _raw_action(candidate, decision, decision.path)
    return replace(raw, data=None if text is None else encode(text), journal=lines)


def _links_action(parsed: Parsed, draft: _Draft) -> Action:
    path = parsed.snapshot.path
    return Action(
        op="rewrite",
        path=path,
        expects=parsed.snapshot.digest,
        data=encode(draft.texts[path]),
        rule="K-41",
        reason="links follow a moved note",
    )


def entry_of(parsed: Parsed, fmt: Format, born: str, base: Base | None, *, unsettled: bool) -> Entry:
    """The catalog row of a file as it now stands."""
    snapshot = parsed.snapshot
    record: Record | None = record_of(parsed, fmt, born) if parsed.kind == "memory" else None
    return Entry(
        path=snapshot.path,
        size=snapshot.stat.size,
        mtime_ns=snapshot.stat.mtime_ns,
        digest=snapshot.digest,
        kind=parsed.kind,
        record=record,
        links=parsed.links,
        findings=tuple(sorted(parsed.findings)),
        base=base,
        unsettled=unsettled,
    )
