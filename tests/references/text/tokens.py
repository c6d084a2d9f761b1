"""Tokens by their definitions, slow and simple."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import regex
from river.feature_extraction import BagOfWords

LONGEST_RUN = 3
ASCII_SPACE = " \t\n\r\f"
# Letters and vowel signs of scripts without spaces: Thai, Lao, Myanmar, Khmer, Japanese, Chinese.
UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f"
    "\u1780-\u17d3\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f\u3005-\u3007\u3021-\u3029"
    "\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
    "\U0001aff0-\U0001b16f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
)
# Characters without a shape: Default_Ignorable_Code_Point, and interlinear annotation.
IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]")
WORD_BREAKS = {
    name: regex.compile(rf"\p{{WB={name}}}")
    for name in (
        *("ALetter", "Hebrew_Letter", "Numeric", "Katakana", "ExtendNumLet", "Regional_Indicator"),
        *("MidLetter", "MidNum", "MidNumLet", "Single_Quote", "Double_Quote"),
        *("Extend", "Format", "ZWJ"),
    )
}


class Word(NamedTuple):
    """A word of a script without spaces, and whether it directly follows the word before."""

    text: str
    tight: bool = False


def words(text: str) -> list[str]:
    """Return the words of river's `BagOfWords`; a lone surrogate ends one."""
    return list(BagOfWords().process_text(without_surrogates(text)))


def python_words(folded: str) -> list[str]:
    """Return the words of a folded text."""
    return re.findall(r"\b\w[\w\-]+\b", folded)


def not_longer(words: Sequence[Word], longest: int | None) -> list[Word]:
    """Return the words of at most `most` characters; a word after an omitted one does not adjoin
    it.
    """
    fits = [longest is None or len(word.text) <= longest for word in words]
    return [
        word if fits[place - 1] else Word(word.text)
        for place, word in enumerate(words)
        if fits[place]
    ]


def without_surrogates(text: str) -> str:
    """Return a text with a replacement character for each lone surrogate."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def unicode_words(text: str) -> list[Word]:
    """Return the words of a folded text by Unicode Standard Annex 29."""
    found: list[Word] = []
    for part in text.split():
        follows = False  # whether the last word found ends where this segment begins
        run = 0
        before = ""
        for segment in word_segments(part):
            run = run + 1 if segment == before else 1
            before = segment
            if UNSPACED.match(segment):
                for character in re.split(f"(?={UNSPACED.pattern})", segment)[1:]:
                    tight = follows and bool(UNSPACED.match(found[-1].text))
                    found.append(Word(character, tight))
                    follows = True
            elif all(map(is_invisible, segment)):
                follows = False
            elif run == 1 or segment[0].isalnum():
                found.append(Word(segment))
                follows = True
            elif run <= LONGEST_RUN:
                found[-1] = Word(found[-1].text + segment)
    return found


def word_segments(text: str) -> list[str]:
    """Cut a text without white space at the word boundaries of Unicode's Standard Annex 29."""
    # WB4: extending characters belong to the character before them.
    units: list[str] = []
    for character in text:
        if units and word_break(character) in {"Extend", "Format", "ZWJ"}:
            units[-1] += character
        else:
            units.append(character)
    kinds = ["", *(word_break(unit[0]) for unit in units), ""]
    segments: list[str] = []
    flags = 0
    for place, unit in enumerate(units):
        before, last, this, after = (["", *kinds])[place : place + 4]
        flags = flags + 1 if this == "Regional_Indicator" == last else this == "Regional_Indicator"
        joined_by_zwj = place > 0 and units[place - 1].endswith("\u200d") and is_pictographic(unit)
        if joined_by_zwj or (last and holds(before, last, this, after, flags)):
            segments[-1] += unit
        else:
            segments.append(unit)
    return segments


LETTERS = {"ALetter", "Hebrew_Letter"}


def holds(before: str, last: str, this: str, after: str, flags: int) -> bool:
    """Return whether there is no boundary between `last` and `this` (WB5 to WB16)."""
    within_word = {"MidLetter", "MidNumLet", "Single_Quote"}
    within_number = {"MidNum", "MidNumLet", "Single_Quote"}
    connected = LETTERS | {"Numeric", "Katakana", "ExtendNumLet"}
    return (
        (last in LETTERS | {"Numeric"} and this in LETTERS | {"Numeric"})  # WB5, 8, 9, 10
        or (last in LETTERS and this in within_word and after in LETTERS)  # WB6
        or (before in LETTERS and last in within_word and this in LETTERS)  # WB7
        or (last == "Hebrew_Letter" and this == "Single_Quote")  # WB7a
        or (last == after == "Hebrew_Letter" and this == "Double_Quote")  # WB7b
        or (before == this == "Hebrew_Letter" and last == "Double_Quote")  # WB7c
        or (before == this == "Numeric" and last in within_number)  # WB11
        or (last == after == "Numeric" and this in within_number)  # WB12
        or (last == this == "Katakana")  # WB13
        or (last in connected and this == "ExtendNumLet")  # WB13a
        or (last == "ExtendNumLet" and this in connected)  # WB13b
        or (this == "Regional_Indicator" == last and flags % 2 == 0)  # WB15, WB16
    )


@functools.cache
def word_break(character: str) -> str:
    """Return a character's property Word_Break."""
    return next((name for name, kind in WORD_BREAKS.items() if kind.match(character)), "Other")


def is_pictographic(text: str) -> bool:
    """Return whether a text begins with an emoji or a character that may become one."""
    return bool(regex.match(r"\p{Extended_Pictographic}", text))


def is_invisible(character: str) -> bool:
    """Return whether a character is a control, a mark, or has no shape."""
    category = unicodedata.category(character)
    return category == "Cc" or category[0] == "M" or bool(IGNORABLE.match(character))


def word_tokens(words: Sequence[Word], sizes: tuple[int, int] | None) -> list[str]:
    """Return n-grams of words; single words of scripts without spaces have their pairs, too."""

    def joined(start: int, stop: int) -> str:
        first, *others = words[start:stop]
        return first.text + "".join(" " * (not word.tight) + word.text for word in others)

    found = []
    lengths = range(sizes[0], sizes[1] + 1) if sizes else range(0)
    for n in lengths:
        found += [joined(place, place + n) for place in range(len(words) - n + 1)]
    if sizes == (1, 1):
        found += [joined(at - 1, at + 1) for at in range(1, len(words)) if words[at].tight]
    return found


def characters(text: str, sizes: tuple[int, int] | None) -> list[str]:
    """Return the n-grams of a text's characters, runs of white space reduced to a space."""
    if not sizes:
        return []
    text = re.sub(r"\s\s+", " ", text)
    return [
        text[place : place + n]
        for n in range(sizes[0], sizes[1] + 1)
        for place in range(len(text) - n + 1)
    ]


def characters_within_words(
    text: str, sizes: tuple[int, int] | None, longest: int | None = None
) -> list[str]:
    """Return the n-grams of the characters of each word, padded with a space at both ends."""
    found: list[str] = []
    for word in text.split() if sizes else ():
        if longest is not None and len(word) > longest:
            continue
        padded = f" {word} "
        for n in range(sizes[0], sizes[1] + 1):
            found += [padded[at : at + n] for at in range(max(len(padded) - n, 0) + 1)]
            if n >= len(padded):
                break  # The whole word, once however long n-grams may become.
    return found


def length(text: str) -> list[str]:
    """Return the tokens of a text's length, in coarse and in fine steps."""
    if not text:
        return []
    return [f"{k}:{math.floor(k * math.log2(len(text) + 1))}" for k in (1, 2, 4)]


def subject(text: str) -> str | None:
    """Return the first `Subject` header with its continuation lines, of a text that begins with
    headers.
    """
    header = re.compile(r"([!-9;-~]+):")
    found: str | None = None
    for number, line in enumerate(text.split("\n")):
        named = header.match(line)
        goes_on = number > 0 and line[:1] in (" ", "\t") and line.strip(ASCII_SPACE)
        first = number == 0 and line.startswith("From ") and not named
        if not (named or goes_on or first) or (named and found is not None):
            break
        if found is not None:
            found += "\n" + line
        elif named and named[1].lower() == "subject":
            found = line[named.end() :]
    return None if found is None else found.strip(ASCII_SPACE)


def fields(text: str) -> list[tuple[str, str]]:
    """Return the fields of a text with their names."""
    first, *others = text.split("\x1e")
    found = [("", first)]
    for part in others:
        name, unit, rest = part.partition("\x1f")
        named = unit and len(name.encode()) <= 64
        found.append((name, rest) if named else ("", part))
    return found


def clipped(text: str, max_bytes: int | None) -> str:
    """Return the first bytes of a text without an incomplete last character."""
    return text.encode()[:max_bytes].decode(errors="ignore")


LOOK_ALIKES = dict(
    zip(
        "авекмнорстухѕіјһԁԛԝѵгпьуӏАВЕКМНОРСТУХЅІЈҺԀԚԜѴҮӀαβγεηικνορτυχωμΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոհցզՕՍԼ",
        "abekmhopctyxsijhdqwvrnbylABEKMHOPCTYXSIJHDQWVYIabyenikvoptuxwuABEZHIKMNOPTYXounhgqOUL",
        strict=True,
    )
)
LATIN_SHAPES = dict(
    zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑɡ", "abcdefghijklmnoprstuvwyziag", strict=True)
) | {chr(box + place): chr(65 + place) for box in (0x1F150, 0x1F170) for place in range(26)}
DIGITS = dict(zip("0123457|", "oizeastl", strict=True))
SIGNS = dict(zip("€$£¥", "esly", strict=True))


def undisguised(text: str) -> str:
    """Return a text in which characters that look like Latin letters are Latin."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(character for character in text if not IGNORABLE.match(character))
        runs = regex.split(r"([\p{Alphabetic}\p{N}\p{M}]+)", text)
        text = "".join(latin_look(run) for run in runs)
    written = ""
    for place, character in enumerate(text):
        if written and regex.match(r"\p{Alphabetic}", written[-1]):
            rest = text[place + 1 :]
            digits = "".join(map(re.escape, DIGITS))
            if character in SIGNS and not re.match("[0-9]", rest):
                character = SIGNS[character]
            elif character == "@" and regex.match(r"\p{Alphabetic}", rest):
                if "." not in re.split(r"[^\S\x1c-\x1f]", rest)[0][:64]:
                    character = "a"
            elif regex.match(rf"[{digits}]{{0,2}}\p{{Alphabetic}}", rest):
                character = DIGITS.get(character, character)
        written += character
    return written


def latin_look(run: str) -> str:
    """Return a run of letters and digits with look-alikes replaced by Latin letters."""
    looks = LATIN_SHAPES | (LOOK_ALIKES if re.search("[A-Za-z]", run) else {})
    return "".join(looks.get(character, character) for character in run)
