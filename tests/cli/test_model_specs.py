"""Models named on the command line, and tables printed."""

from __future__ import annotations

import pytest

from streamnb.cli import model_specs, table
from support.commands import RIVER


class TestModelSpecs:
    def test_parameters(self):
        spec = model_specs.model_spec(" HMNB( alpha=.5, threshold='auto', unseen=None, m=-1) ")
        assert spec.name == "HMNB"
        assert spec.parameters == {"alpha": 0.5, "threshold": "auto", "unseen": None, "m": -1}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "is not a model"),
            ("MNB(", "is not a model"),
            ("MNB + CNB", "is not a model"),
            ("os.system", "is not a model"),
            ("hmnb", "did you mean HMNB"),
            ("river:GaussianNB", "there is no model"),
            ("MNB(0.5)", "by name"),
            ("MNB(**x)", "by name"),
            ("MNB(alpha=open('x'))", "alpha should be"),
            ("MNB(alpha=__import__('os'))", "alpha should be"),
            ("(" * 500 + "MNB" + ")" * 500, "is not a model"),
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

    @pytest.mark.parametrize("name", model_specs.MODELS)
    def test_every_model_can_be_named(self, name, run):
        status, out, _ = run("evaluate", "synthetic-sms", "--limit", "30", "--model", name)
        assert status == 0
        assert name in out

    def test_twice_the_same(self, run):
        assert run("evaluate", "synthetic-sms", "-m", RIVER, "-m", RIVER)[0] == 2


class TestTable:
    def test_bytes(self):
        words = [table.bytes_in_words(size) for size in (0, 999, 1000, 999_960, 2 * 10**12)]
        assert words == ["0 B", "999 B", "1.0 kB", "1.0 MB", "2.0 TB"]
