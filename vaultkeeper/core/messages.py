"""The wording of every finding, in Chinese and English: what is wrong, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from vaultkeeper.core.finding import Finding, Severity
from vaultkeeper.core.format import Bilingual, Language


@dataclass(frozen=True, slots=True)
class Message:
    """Severity and texts of one finding code; `{slot}` is filled from the finding's facts."""

    severity: Severity
    text: Bilingual
    fix: Bilingual


def _m(severity: Severity, zh: str, en: str, fix_zh: str, fix_en: str) -> Message:
    return Message(severity, Bilingual(zh, en), Bilingual(fix_zh, fix_en))


_TIDY = ("运行 vaultkeeper tidy 即可修好", "`vaultkeeper tidy` mends it")

MESSAGES: dict[str, Message] = {
    # the file as bytes (K-5, K-26, K-27, K-28)
    "not-utf8": _m("error", "不是 UTF-8 文本（第 {offset} 字节）", "not UTF-8 text (byte {offset})", "用编辑器另存为 UTF-8", "save it as UTF-8 in an editor"),
    "nul-bytes": _m("error", "含有 NUL 字节，可能是写坏的文件", "holds NUL bytes, perhaps a damaged write", "从备份或 vaultkeeper undo 恢复", "restore it from a backup or with `vaultkeeper undo`"),
    "emptied": _m("warning", "记忆文件变成了空文件（原标题：{title}）", "a memory has become an empty file (it was: {title})", "从备份恢复，或删除它", "restore it from a backup, or delete it"),
    "unreadable": _m("error", "无法读取：{reason}", "cannot be read: {reason}", "检查权限和磁盘", "look at its permissions and the disk"),
    "unwritable": _m("error", "无法写入：{reason}", "cannot be written: {reason}", "检查权限和磁盘空间；之后会自动重试", "look at permissions and free space; it is tried again by itself"),
    "link-outside": _m("warning", "符号链接指向仓库之外：{target}", "a symbolic link that leads out of the vault: {target}", "把文件放进仓库，或忽略它", "put the file into the vault, or leave it as it is: it is not followed"),
    "link-hidden": _m("warning", "符号链接指向隐藏文件夹：{target}", "a symbolic link into a hidden folder: {target}", "删除这个链接", "remove the link: it is not followed"),
    "link-dangling": _m("warning", "符号链接的目标不存在：{target}", "a symbolic link to nothing: {target}", "删除这个链接", "remove the link"),
    "sync-conflict": _m("warning", "同步工具留下的冲突副本，原文件是 {original}", "a conflict copy by a sync tool; the original is {original}", "比较两份内容，合并后删除副本", "compare the two, merge what you want to keep, delete the copy"),
    "bad-name": _m("error", "文件名不是有效的 UTF-8，无法处理（坏字节显示为 \\x…）", "its name is not UTF-8 (bad bytes are shown as \\x…): it cannot be kept", "给它改名", "rename it"),
    "case-clash": _m("warning", "文件名与 {other} 只差大小写或字符写法", "its name differs from {other} only by case or normalisation", "给其中一个改名", "rename one of the two"),
    # frontmatter (K-10 … K-19, K-54)
    "frontmatter-not-first": _m("warning", "frontmatter 之前有空行，Obsidian 不会识别", "blank lines before the frontmatter: Obsidian does not see it", "下次写入时会去掉空行", "they are taken away when the note is next written"),
    "frontmatter-unclosed": _m("warning", "以 --- 开头但没有结束的 ---", "opens with `---` but never closes it", "补上结束的 --- 行", "add the closing `---` line"),
    "frontmatter-unreadable": _m("error", "frontmatter 无法解析（第 {line} 行第 {column} 列）：{reason}", "the frontmatter cannot be read (line {line}, column {column}): {reason}", "手工改正这一行", "mend that line by hand"),
    "frontmatter-too-large": _m("error", "frontmatter 过大（{what}）", "the frontmatter is too large ({what})", "把内容移到正文", "move what it holds into the body"),
    "duplicate-key": _m("warning", "键 {key} 写了两次（另见第 {other} 行）", "the key {key} stands twice (also on line {other})", "删除其中一行", "delete one of the lines"),
    "duplicate-key-conflict": _m("error", "键 {key} 有两个不同的值（第 {first} 行和第 {second} 行）", "the key {key} has two different values (lines {first} and {second})", "保留正确的一行", "keep the right one"),
    "second-frontmatter": _m("warning", "正文开头又有一个 frontmatter 块", "a second frontmatter block stands on top of the body", "手工合并两个块", "merge the two by hand"),
    "stray-line": _m("warning", "frontmatter 中有一行无法识别：{text}", "a line of the frontmatter fits nowhere: {text}", "改正或删除这一行", "mend or delete the line"),
    "slip-colon": _m("warning", "{key} 的值里有未加引号的冒号", "an unquoted `: ` in the value of {key}", *_TIDY),
    "slip-hash": _m("warning", "{key} 的值里有未加引号的 #", "an unquoted ` #` in the value of {key}", *_TIDY),
    "slip-special": _m("warning", "{key} 的值以特殊字符开头，需要引号", "the value of {key} begins with a character that wants quotes", *_TIDY),
    "slip-hash-tags": _m("warning", "{key} 的标签带有 #", "tags in {key} are written with `#`", *_TIDY),
    "slip-tab": _m("warning", "用制表符缩进", "a tab used as indentation", *_TIDY),
    "slip-quotes": _m("warning", "{key} 的值用了弯引号", "typographic quotes around the value of {key}", *_TIDY),
    "slip-fullwidth-colon": _m("warning", "键 {key} 后面是全角冒号", "a full-width colon after {key}", *_TIDY),
    "slip-no-space": _m("warning", "键 {key} 的冒号后面缺空格", "no blank after the colon of {key}", *_TIDY),
    "not-a-list": _m("warning", "{key} 应该是列表", "{key} should be a list", "改写成列表", "write it as a list"),
    "not-one-value": _m("warning", "{key} 应该是单个值", "{key} should be one value", "只写一个值", "write one value only"),
    "template": _m("info", "看起来是模板，不作处理", "looks like a template: left alone", "放进模板文件夹", "keep it in a templates folder"),
    "conflict-markers": _m("error", "含有合并冲突标记", "holds merge conflict markers", "解决冲突后保存", "settle the conflict and save"),
    "patch-refused": _m("error", "无法安全地修改 {key}，文件未动", "{key} cannot be changed safely: the file is as it was", "手工修改", "change it by hand"),
    # fields (LT-20 … LT-38)
    "unknown-type": _m("warning", "未知类型「{word}」，按 {taken} 处理", "unknown type “{word}”, taken as {taken}", "改成规定的类型", "use one of the format's types"),
    "unknown-status": _m("warning", "未知状态「{word}」，按 {taken} 处理", "unknown status “{word}”, taken as {taken}", "改成规定的状态", "use one of the format's statuses"),
    "unknown-confidence": _m("warning", "未知可信度「{word}」，忽略", "unknown confidence “{word}”, left out", "改成 low、medium 或 high", "use low, medium or high"),
    "word-replaced": _m("warning", "{key}「{word}」不是规定的词，已改为 {taken}", "{key} “{word}” is no word of the format and was written as {taken}", "确认是否合适", "look whether that is right"),
    "importance-clamped": _m("info", "importance {word} 超出 0–100，按 {taken} 处理", "importance {word} is outside 0–100, taken as {taken}", "改成 0–100 的整数", "use a whole number from 0 to 100"),
    "importance-bad": _m("warning", "importance「{word}」不是数字，忽略", "importance “{word}” is no number, left out", "改成 0–100 的整数", "use a whole number from 0 to 100"),
    "importance-rounded": _m("info", "importance {word} 不是整数，按 {taken} 处理", "importance {word} is no whole number, taken as {taken}", "改成 0–100 的整数", "use a whole number from 0 to 100"),
    "flag-bad": _m("warning", "{key}「{word}」不是 true 或 false，按 false 处理", "{key} “{word}” is neither true nor false, taken as false", "改成 true 或 false", "use true or false"),
    "bad-date": _m("warning", "{key} 的日期无法识别：{word}", "{key} is no date that can be read: {word}", "写成 2026-10-17 这样的形式", "write it like 2026-10-17"),
    "title-too-long": _m("warning", "标题超过 {limit} 个字符", "the title is longer than {limit} characters", "缩短标题", "shorten it"),
    "missing-key": _m("info", "缺少 {key}，按 {taken} 处理", "{key} is missing, taken as {taken}", "用 vaultkeeper set 补上", "add it, or use `vaultkeeper set`"),
    "schema-bad": _m("warning", "schema_version「{word}」不是版本号，按 1 处理", "schema_version “{word}” is no version number, taken as 1", "改成 schema_version: 1", "write `schema_version: 1`"),
    "newer-schema": _m("warning", "schema_version {version} 比本程序新，只读不写", "schema_version {version} is newer than this program: read, never written", "升级 vaultkeeper", "upgrade vaultkeeper"),
    "missing-id": _m("error", "缺少 id", "it has no id", "运行 vaultkeeper adopt 给它一个 id", "`vaultkeeper adopt` gives it one"),
    "bad-id": _m("error", "id 格式不对：{word}", "its id is malformed: {word}", "运行 vaultkeeper adopt 给它一个新 id", "`vaultkeeper adopt` gives it a new one"),
    "duplicate-id": _m("error", "{id} 同时出现在：{paths}", "{id} stands in more than one note: {paths}", "运行 vaultkeeper duplicates 选择保留哪一份", "`vaultkeeper duplicates` lets you keep one"),
    # links between notes (LT-25, LT-43, LT-61)
    "dangling-id": _m("warning", "{key} 指向不存在的 {id}", "{key} names {id}, which does not exist", "删除或改正这个 id", "remove or correct the id"),
    "pair-one-sided": _m("warning", "{key} 指向 {other}，但对方没有对应的 {back}", "{key} names {other}, whose {back} does not name it back", "运行 vaultkeeper tidy --fix-links", "`vaultkeeper tidy --fix-links`"),
    "pair-cycle": _m("error", "替代关系成环：{ids}", "notes that supersede each other in a circle: {ids}", "改正其中一个 superseded_by", "correct one of the superseded_by"),
    "pair-alone": _m("warning", "状态是 {status}，但 {key} 为空", "its status is {status} but {key} is empty", "补上对方的 id，或改状态", "name the other note, or change the status"),
    "link-by-title": _m("info", "链接 [[{link}]] 在 Obsidian 里找不到文件，应为 [[{target}|{link}]]", "[[{link}]] finds no file in Obsidian; it should be [[{target}|{link}]]", "运行 vaultkeeper tidy --fix-links", "`vaultkeeper tidy --fix-links`"),
    # decisions of the keeper (K-22, K-32, K-35, K-50, LT-40, LT-42)
    "name-taken": _m("warning", "{wanted} 已有别的文件，改用 {taken}", "{wanted} was taken by another file; {taken} is used", "需要的话改名", "rename it if you like"),
    "both-place": _m("warning", "文件被移到 {folder}，frontmatter 也改了；以 frontmatter 为准", "moved into {folder} and its frontmatter changed too: the frontmatter wins", "确认类型和状态", "look whether type and status are right"),
    "both-title": _m("warning", "标题和 H1 都改了；以 frontmatter 的「{title}」为准", "title and H1 were both changed: “{title}” in the frontmatter wins", "确认标题", "look whether the title is right"),
    "both-evidence": _m("warning", "evidence 和来源小节都改了；以 frontmatter 为准", "evidence and its section were both changed: the frontmatter wins", "确认来源", "look whether the evidence is right"),
    "rewrite-war": _m("error", "另一个程序反复改回这篇笔记，已停止处理", "another tool keeps undoing what is written here: the note is left alone", "找出那个程序，或在 frontmatter 里写 vaultkeeper: off", "find that tool, or write `vaultkeeper: off` in the frontmatter"),
    "held": _m("info", "你撤销过对它的修改（{reason}），不会自动再做", "you took back a change ({reason}); it is not done again by itself", "运行 vaultkeeper tidy --all 可以再做", "`vaultkeeper tidy --all` does it again"),
    "action-failed": _m("error", "未能完成（{op}）：{reason}", "could not be done ({op}): {reason}", "稍后会自动重试", "it is tried again by itself"),
    "misplaced": _m("warning", "应该放在 {to}（{reason}）", "belongs at {to} ({reason})", *_TIDY),
    "out-of-step": _m("info", "需要更新：{reason}", "wants an update: {reason}", *_TIDY),
    "pages-stale": _m("info", "{count} 个索引页需要更新", "{count} index pages want an update", *_TIDY),
    # index pages, settings (K-9, K-95)
    "page-markers": _m("error", "索引页的标记缺失、重复或损坏，未写入", "the page's markers are missing, doubled or damaged: nothing was written", "恢复一对 {begin} 和 {end} 标记，或删除此页", "restore one pair of {begin} and {end}, or delete the page"),
    "page-text-kept": _m("warning", "有人在生成区域内写了文字，已移到下面", "text written inside the generated block was moved below it", "把自己的文字写在标记之外", "write outside the markers"),
    "bad-setting": _m("warning", "设置 {key} 的值 {value} 不可用：{reason}；用默认值", "the setting {key} cannot be {value}: {reason}; the default is used", "运行 vaultkeeper config set {key} …", "`vaultkeeper config set {key} …`"),
}  # fmt: skip
"""Message by finding code."""


def severity_of(finding: Finding) -> Severity:
    """How grave a finding is; `error` for a code that has no message."""
    message = MESSAGES.get(finding.code)
    return message.severity if message else "error"


def message_of(finding: Finding, language: Language) -> str:
    """What is wrong, as one sentence."""
    message = MESSAGES.get(finding.code)
    return _fill(message.text[language], finding) if message else finding.code


def fix_of(finding: Finding, language: Language) -> str:
    """What to do about it, as one clause."""
    message = MESSAGES.get(finding.code)
    return _fill(message.fix[language], finding) if message else ""


class _Slots(dict[str, str]):
    """Facts by slot; a slot without a fact shows as its name, so that wording never raises."""

    def __missing__(self, slot: str) -> str:
        return "{" + slot + "}"


def _fill(text: str, finding: Finding) -> str:
    return text.format_map(_Slots({"line": str(finding.line), **dict(finding.facts)}))
