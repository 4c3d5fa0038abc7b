"""The generated block of a page: what splicing changes, what it keeps, when it refuses."""

from __future__ import annotations

import pytest

from vaultkeeper.core.page_text import BEGIN, END, MarkersDamagedError, Spliced, splice

PREFACE = "# Decisions\n"
BLOCK = "## Active (2)\n\n- [[a-1|Apples]] · importance 80\n- [[b-2|Pears]]"


def page(block: str = BLOCK, *, above: str = "", below: str = "") -> str:
    """A page as the keeper made it, with a person's text around the block."""
    made = splice(None, block, PREFACE).text
    return above + made + below


def insert(text: str, after: str, added: str) -> str:
    """The page after a person typed something behind the given piece of it."""
    assert text.count(after) == 1
    return text.replace(after, after + added)


def inner(text: str) -> str:
    """What stands between the markers."""
    return text.split("-->\n", 1)[1].split(END)[0]


@pytest.mark.rule("K-9")
@pytest.mark.parametrize("old", [None, "", "\ufeff", " \n\t\r\n"])
def test_a_missing_or_blank_page_is_made_anew(old: str | None) -> None:
    made = splice(old, BLOCK, PREFACE)
    assert made.text.startswith("# Decisions\n\n<!-- vaultkeeper:begin ")
    assert made.text.endswith(f"- [[b-2|Pears]]\n{END}\n")
    assert not made.kept


@pytest.mark.rule("K-9")
def test_a_page_without_preface_starts_with_its_block() -> None:
    assert splice(None, "", "").text == "<!-- vaultkeeper:begin e3b0c442 -->\n<!-- vaultkeeper:end -->\n"


@pytest.mark.rule("K-6", "K-7", "LT-52")
def test_splicing_what_is_there_changes_no_byte() -> None:
    old = page(above="\ufeffIntro  \n\n", below="\nOutro without a newline")
    assert splice(old, BLOCK, "# Other\n") == Spliced(old, kept=False)


@pytest.mark.rule("K-9", "LT-52")
@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("", ""),
        ("My intro.\n\n", "\n\n\nMy outro, no newline"),
        ("---\ntags: x\n---\n", "  \n\n```dataview\nLIST\n```\n"),
        ("a\u2028b\x0c\x85\n", "\r\nmixed\rends\n"),
    ],
)
def test_only_what_stands_between_the_markers_changes(above: str, below: str) -> None:
    new = splice(page(above=above, below=below), "- [[c-3|Plums]]", "")
    assert new == Spliced(page("- [[c-3|Plums]]", above=above, below=below), kept=False)


@pytest.mark.rule("K-9", "LT-52")
def test_a_query_of_a_person_beside_the_block_is_left_alone() -> None:
    query = "```dataview\nTABLE file.mtime\n```\n\n"
    new = splice(page(above=query), "- [[c-3|Plums]]", "").text
    assert new.startswith(query)
    assert "[[c-3|Plums]]" in new


@pytest.mark.rule("K-9")
@pytest.mark.parametrize(
    "old",
    [
        "# My own page\n\nwords\n",
        f"{BEGIN}\n- x\n",
        f"- x\n{END}\n",
        f"{END}\n- x\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{END}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n",
        f"{BEGIN}\n{END}\n\n{BEGIN}\n{END}\n",
        f"{BEGIN}\nmy words {END}\n",
        f"{BEGIN} my words\n{END}\n",
        f"<!-- vaultkeeper:begin 12345 -->\n{END}\n",
        f"<!-- vaultkeeper:begin 1234567z -->\n{END}\n",
        f"<!--vaultkeeper:begin-->\n{END}\n",
        f"{BEGIN}\n<!-- Vaultkeeper:END\n",
        f"> {BEGIN}\n> x\n> {END}\n",
        f"```\n{BEGIN}\n- x\n{END}\n```\n",
        f"{BEGIN}\n```\nnever closed\n{END}\n",
        f"<<<<<<< HEAD\n{BEGIN}\n=======\n<!-- vaultkeeper:begin 00000000 -->\n>>>>>>> b\n- x\n{END}\n",
    ],
)
def test_a_page_without_one_whole_pair_of_markers_is_refused(old: str) -> None:
    with pytest.raises(MarkersDamagedError):
        splice(old, BLOCK, PREFACE)


@pytest.mark.rule("K-9")
@pytest.mark.parametrize(
    "code",
    [
        f"```\n{BEGIN}\n{END}\n```\n\n",
        f"~~~ my info string\n{BEGIN}\n~~\n```\n{END}\n~~~~\n\n",
        f"````md\n```\n{BEGIN}\n```\n````\n\n",
        f"- item\n  ```\n  {BEGIN}\n  ```\n\n",
        f"- ```\n  {BEGIN}\n  ```\n\n",
        f"- ```\n  {BEGIN}\n\nThe list is over, its code too.\n\n",
        f"> ```\n> {BEGIN}\n> ```\n\n",
        f"Text\n\n    {BEGIN}\n\n",
        f"\t{END}\n\n",
        f"A line with `{BEGIN}` and ``{END}`` in it, and ``` not a ` fence.\n\n",
        f"   ```\n{BEGIN}\n   ```   \n\n",
    ],
)
def test_markers_in_code_do_not_count(code: str) -> None:
    old = page(above=code)
    assert splice(old, BLOCK, "").text == old
    below = page(below="\n" + code)
    assert splice(below, BLOCK, "").text == below


@pytest.mark.rule("K-9", "LT-52")
def test_markers_may_be_indented_a_little_and_trail_blanks() -> None:
    old = page().replace("<!--", "  <!--").replace("-->", "--> \t")
    assert splice(old, BLOCK, "").text == page()


@pytest.mark.rule("K-9")
@pytest.mark.parametrize(
    ("after", "added", "kept"),
    [
        ("[[b-2|Pears]]", "\n\nI like these.\nAnd these.", "I like these.\nAnd these."),
        ("[[b-2|Pears]]", " — my own remark", "- [[b-2|Pears]] — my own remark"),
        ("[[b-2|Pears]]", " · my own fact", "- [[b-2|Pears]] · my own fact"),
        ("importance 80", " (sold out)", "- [[a-1|Apples]] · importance 80 (sold out)"),
        ("importance 80", "\n  - a nested point", "  - a nested point"),
        ("importance 80", "\n- [[Somewhere]]", "- [[Somewhere]]"),
        ("importance 80", "\n- [[Somewhere|my words]] · mine", "- [[Somewhere|my words]] · mine"),
        ("## Active (2)", "\n## Mine (5)", "## Mine (5)"),
        ("[[b-2|Pears]]", "\n```\n- [[b-2|Pears]]\n\n\n```", "```\n- [[b-2|Pears]]\n\n\n```"),
        ("(2)\n", "first\n", "first"),
    ],
)
def test_words_typed_into_the_block_move_below_it_once(after: str, added: str, kept: str) -> None:
    typed = insert(page(below="\nMy outro.\n"), after, added)
    new_block = BLOCK.replace("(2)", "(3)") + "\n- [[c-3|Plums]]"
    new = splice(typed, new_block, "")
    assert new == Spliced(page(new_block, below=f"\n{kept}\n\nMy outro.\n"), kept=True)
    assert splice(new.text, new_block, "") == Spliced(new.text, kept=False)
    assert splice(new.text, BLOCK, "").text.endswith(f"{END}\n\n{kept}\n\nMy outro.\n")


@pytest.mark.rule("K-9")
def test_a_page_whose_digest_was_lost_keeps_what_the_new_block_does_not_say() -> None:
    old = f"# D\n\nMy intro.\n\n{BEGIN}\n- [[A]] — my own remark on A\n- [[B]]\n{END}\n\nMy outro.\n"
    new = splice(old, "- [[A]]\n- [[B]]\n- [[C]]", "")
    assert new.kept
    assert inner(new.text) == "- [[A]]\n- [[B]]\n- [[C]]\n"
    assert new.text.endswith(f"{END}\n\n- [[A]] — my own remark on A\n\nMy outro.\n")
    assert splice(new.text, "- [[A]]\n- [[B]]\n- [[C]]", "") == Spliced(new.text, kept=False)


@pytest.mark.rule("K-9")
def test_without_proof_a_link_that_the_new_block_lacks_is_kept() -> None:
    new = splice(f"{BEGIN}\n- [[Mine]]\n- [[A]]\n{END}\n", "- [[A]]", "")
    assert new.text.endswith(f"{END}\n\n- [[Mine]]\n")


@pytest.mark.rule("K-9")
def test_words_between_generated_lines_stay_apart() -> None:
    typed = insert(insert(page(), "importance 80", "\none\n\ntwo"), "[[b-2|Pears]]", "\nthree")
    assert splice(typed, BLOCK, "").text == page(below="\none\n\ntwo\n\nthree\n")


@pytest.mark.rule("K-9")
def test_a_line_taken_out_by_a_person_leaves_nothing_below() -> None:
    typed = page().replace("- [[b-2|Pears]]\n", "")
    new_block = BLOCK.replace("80", "90").replace("(2)", "(3)") + "\n- [[c-3|Plums]]"
    assert splice(typed, new_block, "") == Spliced(page(new_block), kept=False)


@pytest.mark.rule("K-9")
def test_fixed_phrases_and_page_turns_are_nobodys_words() -> None:
    lines = "*Generated by vaultkeeper; write your own words outside this block.*\n\n（暂无）"
    new = splice(f"{BEGIN}\n{lines}\n\n## 活动（续）\n{END}\n", "## 活动 (1)\n\n- [[A]]", "")
    assert new == Spliced(page("## 活动 (1)\n\n- [[A]]").removeprefix("# Decisions\n\n"), kept=False)


@pytest.mark.rule("K-9")
def test_stale_entries_are_told_from_a_remark_by_the_digest() -> None:
    typed = insert(page(), "[[b-2|Pears]]", " — my own remark")
    new = splice(typed, "## Active (1)\n\n- [[c-3|Plums]]", "")
    assert new.text.endswith(f"[[c-3|Plums]]\n{END}\n\n- [[b-2|Pears]] — my own remark\n")


@pytest.mark.rule("K-9")
def test_stale_entries_are_told_from_an_added_fact_by_the_digest() -> None:
    typed = insert(page(), "[[b-2|Pears]]", " · my own fact")
    new = splice(typed, "## Active (1)\n\n- [[b-2|Pears]]", "")
    assert new.text.endswith(f"[[b-2|Pears]]\n{END}\n\n- [[b-2|Pears]] · my own fact\n")


@pytest.mark.rule("K-9")
def test_stale_entries_are_told_from_code_that_looks_like_one_by_the_digest() -> None:
    code = "```\n- [[a-1|Apples]] · importance 80\n\n```"
    new = splice(insert(page(), "[[b-2|Pears]]", f"\n{code}"), "- [[c-3|Plums]]", "")
    assert new.text.endswith(f"[[c-3|Plums]]\n{END}\n\n{code}\n")


@pytest.mark.rule("K-9")
def test_code_is_kept_whole_without_a_digest_too() -> None:
    code = "~~~\n- [[A]]\n\n\n- [[A]]\n~~~"
    new = splice(f"{BEGIN}\n- [[A]]\n{code}\n{END}\n", "- [[A]]", "")
    assert new.text.endswith(f"{END}\n\n{code}\n")


@pytest.mark.rule("K-3", "K-4", "K-9")
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_a_page_with_other_newlines_keeps_them(newline: str) -> None:
    old = page(below="\nOutro").replace("\n", newline)
    assert splice(old, BLOCK, "") == Spliced(old, kept=False)
    typed = old.replace("Pears]]", f"Pears]]{newline}mine")
    new = splice(typed, BLOCK, "")
    assert new.text == page(below="\nmine\n\nOutro").replace("\n", newline)


@pytest.mark.rule("K-9")
def test_blank_lines_and_line_ends_that_a_formatter_changed_are_put_back() -> None:
    formatted = page().replace("(2)\n\n", "(2)\n\n\n").replace("80\n", "80  \n\n")
    assert splice(formatted, BLOCK, "") == Spliced(page(), kept=False)


@pytest.mark.rule("K-9")
def test_kept_words_at_the_end_of_a_file_without_newline_end_with_one() -> None:
    typed = insert(page(), "[[b-2|Pears]]", "\nmine").rstrip("\n")
    assert splice(typed, BLOCK, "").text == page(below="\nmine\n")


@pytest.mark.rule("LT-52")
def test_a_page_that_is_no_longer_needed_can_be_emptied() -> None:
    emptied = splice(page(below="\nMine.\n"), "", "")
    assert emptied == Spliced(page("", below="\nMine.\n"), kept=False)
    assert splice(emptied.text, "", "") == emptied
