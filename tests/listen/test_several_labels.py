"""A listener with a model of several labels: decisions, labels, corrections and kills by HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.listener import listening

pytest.importorskip("uvicorn")

FLAGS = ("--model", "MultiLabelNB()", "--labels", "")


def test_labels_are_learned_corrected_and_unlearned(tmp_path: Path) -> None:
    with listening(tmp_path, "sms", FLAGS) as listener:
        for number in range(8):
            grain = {
                "id": f"a{number}",
                "text": "wheat and corn prices",
                "labels": ["wheat", "corn"],
            }
            none = {"id": f"b{number}", "text": "see you at noon", "labels": []}
            assert listener.post("/learn", grain)["learned"] == ["corn", "wheat"]
            assert listener.post("/learn", none)["learned"] == []
        found = listener.post("/classify", {"id": "x", "text": "wheat and corn prices"})
        assert found["labels"] == ["corn", "wheat"]
        assert set(found["probabilities"]) == {"corn", "wheat"}
        listener.process.kill()
        listener.process.wait()
        listener.start()
        corrected = listener.post("/learn", {"id": "a0", "labels": ["corn"]})
        assert (corrected["learned"], corrected["unlearned"]) == (["corn"], ["corn", "wheat"])
        assert corrected["result"] == "corrected"
        assert listener.post("/unlearn", {"id": "a0"})["unlearned"] == ["corn"]
        explained = listener.post("/explain", {"id": "y", "text": "wheat prices"})
        assert explained["words"]
        status, body = listener.http("POST", "/learn", b'{"id": "z", "text": "x", "label": "corn"}')
        assert status == 422
        assert b"give labels, an array" in body
