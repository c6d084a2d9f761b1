"""Kinds of tokens together, words by Unicode's rules: native against slow references."""

from __future__ import annotations

import itertools
import random
import re
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from references.text import tokens as reference
from streamnb import MNB, InputError, OnlineNB, Tokenizer
from streamnb.datasets import read_text
from support.data import require_data
from support.profiles import examples

sizes = st.one_of(
    st.none(), st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda n: (n[0], n[0] + n[1]))
)
characters = st.text(
    max_size=12,
    alphabet=st.one_of(
        st.sampled_from("aB09_.,;:'\"-!$€ \t\n\x00\x07\u200d\u0301\u00ad\u2019\u202f\u00a0\u3000"),
        st.sampled_from("אアｱﾞ日本あกำि्क👩🏽❤️🇩🇪가Σ\u1100\ud800\udfff\u2028\ufeff\U000e0041"),
        st.characters(exclude_categories=["Cn"]),
    ),
)
named = st.sampled_from(
    [
        *("\x1esubject\x1f", "\x1eΣ\x1f", "\x1e", "\x1f", "\x1e" + "n" * 65 + "\x1f"),
        *("\x1euser*=\x1f", "\x1eΣ=\x1f", "\x1e*=\x1f", "\x1e=\x1f", "\x1e\x1f"),
        *("Subject:", "x-a:b\n", "\n"),
    ]
)
runs = st.tuples(st.sampled_from("!€😀日กa\u0301"), st.integers(1, 8)).map(
    lambda run: run[0] * run[1]
)
hostile_text = st.lists(st.one_of(characters, runs, named), max_size=6).map("".join)
# Here the crate joins what has a boundary between letter and mark: "a" "." ZWJ "❤".
JOINED_EMOJI = regex.compile(
    r"[\p{WB=MidLetter}\p{WB=MidNum}\p{WB=MidNumLet}'\"][\p{WB=Extend}\p{WB=Format}]*\u200d\p{Extended_Pictographic}"
)


def prepared(text: str, options: dict[str, Any]) -> str:
    return reference.clipped(reference.without_surrogates(text), options.get("max_bytes"))


def fold(text: str, options: dict[str, Any]) -> str:
    if options.get("deobfuscate"):
        text = reference.undisguised(text)
    if options.get("strip_accents", True):
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return text.lower() if options.get("lowercase", True) else text


def expected_tokens(text: str, options: dict[str, Any]) -> list[str]:
    text = prepared(text, options)
    parts = reference.fields(text) if options.get("fields") else [("", text)]
    texts = [part for name, part in parts if not name]
    first = next(filter(None, texts), None)
    if options.get("subject") and first and (subject := reference.subject(first)) is not None:
        parts = [("subject", subject), *parts]
    values = [(name[:-1], part) for name, part in parts if name.endswith("=")]
    found = [f"{name.removesuffix('*')}={value}" for name, value in values]
    for name, part in parts:
        if not name.endswith("="):
            lead = f"{name}: " if name else ""
            found += [lead + token for token in expected_of(fold(part, options), options)]
    only_words = options | {"length": False}
    if options["words"]:
        only_words |= {"characters": None, "characters_within_words": None}
    for name, value in values:
        for text in texts if name.endswith("*") else ():
            copied = expected_of(fold(text, options), only_words)
            found += [f"{name[:-1]}={value}: {token}" for token in copied]
    return found[: options.get("max_tokens")]


def expected_of(folded: str, options: dict[str, Any]) -> list[str]:
    if options["boundaries"] == "unicode":
        words = reference.unicode_words(folded)
    else:
        words = [reference.Word(word) for word in reference.python_words(folded)]
    longest = options.get("max_token_length")
    words = reference.not_longer(words, longest)
    length = options.get("length", False)
    found = ["\f" + token for token in reference.length(folded)] if length else []
    found += reference.word_tokens(words, options["words"])
    others = [
        ("\t", reference.characters(folded, options["characters"])),
        (
            "\v",
            reference.characters_within_words(folded, options["characters_within_words"], longest),
        ),
    ]
    asked = [options["words"], options["characters"], options["characters_within_words"]]
    alone = sum(map(bool, asked)) == 1 and not length and not options.get("fields")
    for mark, tokens in others:
        found += tokens if alone else [mark + token for token in tokens]
    return found


def test_disguises_and_max_bytes_apply_to_texts_with_a_capital_sigma() -> None:
    cut = Tokenizer(characters=(1, 1), strip_accents=False, deobfuscate=True)
    assert cut("\u03a3\u0f43") == ["\u03c3", "\u0f42", "\u0fb7"]
    assert Tokenizer(characters=(1, 1), max_bytes=3)("\u03a3abc") == ["\u03c3", "a"]


@examples(800)
@given(
    text=hostile_text,
    options=st.fixed_dictionaries(
        {
            "words": sizes,
            "characters": sizes,
            "characters_within_words": sizes,
            "boundaries": st.sampled_from(["python", "unicode"]),
            "lowercase": st.booleans(),
            "strip_accents": st.booleans(),
            "deobfuscate": st.booleans(),
            "length": st.booleans(),
            "fields": st.sampled_from([(), ("user", "Σ")]),
            "subject": st.booleans(),
        },
        optional={
            "max_tokens": st.integers(1, 20),
            "max_bytes": st.integers(1, 40),
            "max_token_length": st.integers(1, 6),
        },
    ),
)
def test_kinds_together_are_those_of_the_reference(text: str, options: dict[str, Any]) -> None:
    kinds = ("words", "characters", "characters_within_words")
    assume(any(options[kind] for kind in kinds))
    assume(not JOINED_EMOJI.search(fold(prepared(text, options), options)))
    assert Tokenizer(**options)(text) == expected_tokens(text, options)


def test_a_subject_goes_on_in_the_lines_that_begin_with_white_space() -> None:
    cut = Tokenizer(subject=True, max_tokens=3)
    mail = "From ann\nTo: bob\n and all\nsubject: win\r\n\tcash\nDate: today\n\nhello"
    assert cut(mail) == ["subject: win", "subject: cash", "from"]
    assert cut("hello\nSubject: win") == ["hello", "subject", "win"]


@examples(800)
@given(text=hostile_text)
@example(text="can't a:b 3,14 U.S.A. x_1 1.a a.1 \u05d0\"\u05d1 \u05d0'")
@example(text="हिन्दी में café e\u0301te\u0301 ไป カナｶﾞ 日本go中国 한국어")
@example(text="WIN £100!!!! ?!?! 😀😀😀😀 👩🏽‍🚀👩🏽‍🚀 🇩🇪🇩🇪🇩 ♥️")
def test_unicode_words_are_those_of_the_annex(text: str) -> None:
    assume(not JOINED_EMOJI.search(text))
    tokenizer = Tokenizer(boundaries="unicode", words=(1, 1), lowercase=False, strip_accents=False)
    words = reference.unicode_words(reference.without_surrogates(text))
    assert tokenizer(text) == reference.word_tokens(words, (1, 1))


disguised_text = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcEFG0123456789|$€£¥@.! \n\u200b\u00ad\ufe0f\u0301\x1c\u3164"),
        st.sampled_from("авеАВЕαβΑΒօՕᴀʙıɑ🅰🅩🄐ｆＦ𝐟ⓕﬁ½①日あ\ufdfa\u0958\u1100\u1161\u11a8"),
        st.characters(exclude_categories=["Cn", "Cs"]),
    )
)


@examples(800)
@given(text=disguised_text)
@example(text="Ｆｒ€€ V1agra vіаgrа c@sh me@x.org US$5 h0tm41l a1234b мороз fr\u200bee 🅵ree ᴡɪɴ")
@example(text="a@" + "b" * 63 + ". a@" + "b" * 64 + ".")
def test_disguises_fall_as_in_the_reference(text: str) -> None:
    tokenizer = Tokenizer(deobfuscate=True, lowercase=False, strip_accents=False, analyzer="char")
    assert tokenizer(text) == reference.characters(reference.undisguised(text), (1, 1))


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text("ab: \x1e\x1f", max_size=5)
)


@given(
    text=st.text(alphabet="ab: \x1e\x1f", max_size=9),
    given_fields=st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("user", "time", "other"), values),
            **{name: st.text("ab \x1e\x1f", max_size=9) for name in ("subject", "title")},
        },
    ),
)
def test_fields_stay_apart(text: str, given_fields: dict[str, Any]) -> None:
    tokenizer = Tokenizer(
        fields=("user", "time"), texts=("subject",), per_field="user", characters=(1, 1)
    )
    clean = {
        name: re.sub("[\x1e\x1f]", " ", str(value))
        for name, value in given_fields.items()
        if value is not None
    }
    found = [f"{name}={clean[name]}" for name in ("user", "time") if clean.get(name)]
    letters = ["\t" + c for c in reference.characters(re.sub("[\x1e\x1f]", " ", text), (1, 1))]
    found += letters
    found += [f"subject: \t{c}" for c in reference.characters(clean.get("subject", ""), (1, 1))]
    if clean.get("user"):
        found += [f"user={clean['user']}: {letter}" for letter in letters]
    assert tokenizer(given_fields | {"text": text}) == found


def test_values_are_cut_and_copies_are_words() -> None:
    tokenizer = Tokenizer(
        words=(1, 2),
        characters_within_words=(3, 3),
        length=True,
        fields=("user",),
        per_field="user",
        deobfuscate=True,
    )
    found = tokenizer({"text": "v1agra now", "user": "b0b" * 100})
    user = "user=" + ("b0b" * 100)[:256]
    assert found[0] == user
    assert found[-3:] == [f"{user}: {word}" for word in ("viagra", "now", "viagra now")]
    assert tokenizer({"text": "v1agra now"}) == tokenizer("v1agra now") == found[1:-3]


@pytest.mark.parametrize("value", [["ann"], {}, b"ann"])
def test_fields_that_are_no_values_are_refused(value: Any) -> None:
    tokenizer = Tokenizer(fields=("user",), texts=("subject",))
    for name in ("user", "subject"):
        with pytest.raises(InputError, match=f"'{name}' must be a str, a number"):
            tokenizer({"text": "win", name: value})


@pytest.mark.parametrize("name", ["text", "", "a b", "a=", "a*", "a:", "n" * 65, "Σ" * 33, 1])
def test_names_of_fields_are_checked(name: Any) -> None:
    for option in ("fields", "texts"):
        with pytest.raises(InputError, match=f"{option} must be a tuple of names"):
            Tokenizer(**{option: (name,)})


@pytest.mark.parametrize("attack", ["a" + "0" * 200_000 + "b", "a@" * 200_000, "é0" * 100_000])
def test_disguises_cost_no_more_than_their_length(attack: str) -> None:
    start = time.process_time()
    Tokenizer(deobfuscate=True, max_tokens=1)(attack)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("piece", ["abcdefghij", "1,", "漢"])
@pytest.mark.parametrize("model", [MNB, OnlineNB])
def test_one_giant_token_costs_its_length(model: Callable[[], Any], piece: str) -> None:
    # OnlineNB was once quadratic: 29.8 s for ten megabytes without a blank.
    draw = random.Random(7)

    def seconds(size: int) -> float:
        text = "".join(draw.choices(piece, k=size)) if len(piece) > 2 else piece * size
        text = text.encode()[:size].decode(errors="ignore")
        taken = model()
        taken.learn_many(["win cash", "see you"], ["spam", "ham"])
        began = time.process_time()
        taken.learn_one(text, "spam")
        return time.process_time() - began

    # Four times the length: 4 if linear, 16 if quadratic. The fastest of several pairs.
    pairs = [(seconds(1_000_000), seconds(4_000_000)) for _ in range(4)]
    short, long = map(min, zip(*pairs, strict=True))
    assert long < 8 * short, pairs


@pytest.mark.parametrize(
    ("corpus", "step"),
    [
        ("sms_spam", 4),
        ("sms_spam_hi", 4),
        *(pytest.param(f"sms_spam{end}", 1, marks=pytest.mark.soak) for end in ("", "_hi", "_de")),
    ],
)
def test_messages_have_the_tokens_of_the_reference(corpus: str, step: int) -> None:
    options = {
        "boundaries": "unicode",
        "words": (1, 2),
        "characters": (5, 5),
        "characters_within_words": (1, 4),
    }
    tokenizer = Tokenizer(**options)
    messages = read_text(require_data(f"text/{corpus}.jsonl.xz"))
    for message in itertools.islice(messages, 0, None, step):
        assert tokenizer(message.text) == expected_tokens(message.text, options), message.id


@given(text=hostile_text)
def test_no_token_is_of_two_kinds(text: str) -> None:
    kinds = {"words": (1, 3), "characters": (1, 5), "characters_within_words": (1, 5)}
    both = Tokenizer(boundaries="unicode", **kinds)(text)
    single = [
        *Tokenizer(words=(1, 3), boundaries="unicode")(text),
        *("\t" + token for token in Tokenizer(characters=(1, 5))(text)),
        *("\v" + token for token in Tokenizer(characters_within_words=(1, 5))(text)),
    ]
    assert both == single
    starts = {"\t", "\v"}
    assert not any(
        token[0] in starts for token in Tokenizer(words=(1, 3), boundaries="unicode")(text)
    )


def test_one_kind_by_either_name_is_the_same() -> None:
    text = "Free entry to WIN a café-bar!"
    for one, other in [
        ({"analyzer": "word", "ngram_range": (1, 3)}, {"words": (1, 3)}),
        ({"analyzer": "char", "ngram_range": (2, 3)}, {"characters": (2, 3)}),
        ({"analyzer": "char_wb", "ngram_range": (2, 3)}, {"characters_within_words": (2, 3)}),
    ]:
        assert Tokenizer(**one)(text) == Tokenizer(**other)(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"words": (0, 1)}, "words must be"),
        ({"words": 2}, "words must be a pair"),
        ({"characters": (3, 2)}, "characters must be"),
        ({"characters_within_words": (1, 256)}, "characters_within_words must be"),
        ({"max_bytes": 0}, "max_bytes must be"),
        ({"boundaries": "river"}, "boundaries must be 'python' or 'unicode'"),
        ({"boundaries": None}, "boundaries must be a name"),
        ({"fields": "user"}, "fields must be a tuple of names"),
        ({"per_field": "user"}, "per_field must be None or one of fields"),
        ({"fields": ("user",), "per_field": 1}, "per_field must be"),
        ({"fields": ("user",), "numbers": ("price",)}, "numbers must be some of fields"),
        ({"fields": ("hour",), "numbers": ("hour",), "per_field": "hour"}, "not in numbers"),
        ({"words": (1, 1), "analyzer": "char"}, "cannot be combined with words"),
        ({"characters": (1, 1), "ngram_range": (2, 2)}, "cannot be combined with characters"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        Tokenizer(**options)
    assert said in str(refused.value)


def test_models_keep_the_tokenizer() -> None:
    tokenizer = Tokenizer(boundaries="unicode", words=(1, 2), characters=(2, 4), max_bytes=3_000)
    model = MNB(tokenizer=tokenizer)
    for text, label in [("WIN €5 now!!!", "spam"), ("日本 at noon?", "ham")]:
        model.learn_one(text, label)
    again = MNB.from_bytes(model.to_bytes())
    assert again.tokenizer == tokenizer
    assert again.predict_proba_one("WIN now") == model.predict_proba_one("WIN now")
    assert set(again.explain_one("€5 日本").words) == set(tokenizer("€5 日本"))
