"""A new user of a listener presses only "Junk": no mail of others is lost."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from streamnb.datasets.lines import read_lines
from support.data import require_data
from support.listener import listening

pytest.importorskip("uvicorn")
MAILS = 200


def mails(seed: int) -> list[tuple[str, bytes]]:
    """Return labels and mails of SpamAssassin, in a random order."""
    lines = read_lines(require_data("text/spamassassin.jsonl.xz"))
    found = [json.loads(line.text) for line in lines]
    chosen = random.Random(seed).sample(found, MAILS)
    return [(each["label"], each["text"].encode()) for each in chosen]


@pytest.mark.parametrize("assume_after", ["auto", "20"])
@pytest.mark.parametrize("seed", [1, 2])
def test_who_presses_only_junk_loses_no_ham(tmp_path: Path, seed: int, assume_after: str) -> None:
    lost, pressed = 0, 0
    with listening(tmp_path, flags=("--assume-after", assume_after)) as listener:
        for label, raw in mails(seed):
            status, headers, _ = listener.spamd("CHECK", raw)
            assert status.endswith("EX_OK")
            is_spam = headers["Spam"].startswith("True")
            lost += is_spam and label == "ham"
            if label == "spam" and not is_spam:
                answer = listener.spamd("TELL", raw, Message_class="spam", Set="local")
                assert answer[1]["DidSet"] == "local"
                pressed += 1
        assert listener.learned() >= pressed > 20
    assert lost == 0
