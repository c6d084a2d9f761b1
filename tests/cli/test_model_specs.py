"""Models named on the command line, and tables printed."""

from __future__ import annotations

import pytest

import streamnb
from streamnb import model_specs
from streamnb.families import TEXT_MODELS
from support.commands import RIVER


class TestModelSpecs:
    def test_parameters(self):
        spec = model_specs.model_spec(" HMNB( alpha=.5, threshold='auto', oov=None, m=-1) ")
        assert spec.name == "HMNB"
        assert spec.parameters == {"alpha": 0.5, "threshold": "auto", "oov": None, "m": -1}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "is not a model"),
            ("MNB(", "is not a model"),
            ("MNB + CNB", "is not a model"),
            ("os.system", "is not a model"),
            ("hmnb", "did you mean HMNB"),
            ("river:GaussianNB", "unknown model"),
            ("MNB(0.5)", "by name"),
            ("MNB(**x)", "by name"),
            ("MNB(alpha=open('x'))", "alpha should be"),
            ("MNB(alpha=__import__('os'))", "alpha should be"),
            ("(" * 500 + "MNB" + ")" * 500, "is not a model"),
            ("MNB(tokenizer='char')", "tokenizer must be None, a Tokenizer"),
            ("MNB(tokenizer=str.split)", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=open('x'))", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=os.Tokenizer())", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=Tokenizer('char'))", "by name, as in Tokenizer(analyzer='char')"),
            ("MNB(tokenizer=Tokenizer(**{}))", "by name, as in Tokenizer(analyzer='char')"),
            ("MNB(tokenizer=Tokenizer(ngrams=2))", "Tokenizer takes lowercase"),
            ("MNB(tokenizer=Tokenizer(analyzer='sentence'))", "analyzer must be 'word'"),
            ("MNB(tokenizer=Tokenizer(analyzer=open('x')))", "tokenizer: analyzer should be"),
            ("MNB(tokenizer=Tokenizer(ngram_range=2))", "tokenizer: ngram_range must be"),
            ("MNB(tokenizer=Tokenizer(ngram_range=(0, 2)))", "tokenizer: ngram_range must be"),
            ("MNB(tokenizer=Tokenizer(max_tokens=-1))", "tokenizer: max_tokens must be"),
            ("MNB(alpha=Tokenizer())", "alpha should be a number"),
        ],
    )
    def test_refused(self, text, said, run):
        status, out, err = run("evaluate", "synthetic-sms", "--model", text)
        assert status == 2
        assert said in err
        assert not out

    @pytest.mark.parametrize("text", [f"{RIVER}(beta=1)", "MNB(beta=1)", "MNB(alpha=-1)"])
    def test_parameters_that_the_model_refuses(self, text, run):
        status, _, err = run("evaluate", "synthetic-sms", "--model", text)
        assert status == 2
        assert text in err
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        "options",
        [
            "",
            "analyzer='char_wb', ngram_range=(2, 5)",
            "analyzer='char', ngram_range=(3, 3), max_tokens=1000",
            "lowercase=False, strip_accents=False, max_token_length=20",
        ],
    )
    def test_tokenizer(self, options, run, tmp_path, jsonl):
        text = f"MNB(alpha=.5, tokenizer=Tokenizer({options}))"
        expected = eval(f"streamnb.Tokenizer({options})")
        assert model_specs.model_spec(text).parameters == {"alpha": 0.5, "tokenizer": expected}
        assert run("evaluate", "synthetic-sms", "--limit", "30", "--model", text)[0] == 0
        path = tmp_path / "some.model"
        assert run("learn", jsonl, "--model", text, "--output", path)[0] == 0
        saved = streamnb.load(path)
        assert saved.tokenizer == expected
        assert set(saved.explain_one("Win cash now").words) == set(expected("Win cash now"))

    @pytest.mark.parametrize("name", TEXT_MODELS)
    def test_every_model_can_be_named(self, name, run):
        status, out, _ = run("evaluate", "synthetic-sms", "--limit", "30", "--model", name)
        assert status == 0
        assert name in out

    def test_twice_the_same(self, run):
        assert run("evaluate", "synthetic-sms", "-m", RIVER, "-m", RIVER)[0] == 2
