"""Write the files of this version, which `test_old_files.py` reads for ever.

    .venv/bin/python tests/persistence/files/write.py

Run it once for each release, on the commit of its tag. Never write the files of a version again.
"""

import json
import subprocess
import sys
from pathlib import Path

import streamnb
from streamnb.challenger import Challenger

FOLDER = Path(__file__).parent / streamnb.__version__
LESSONS = [
    (text, label)
    for _ in range(3)
    for text, label in [
        ("WIN cash now, claim your prize", "spam"),
        ("see you at noon for lunch", "ham"),
        ("free prize: call to claim cash", "spam"),
        ("the minutes of the meeting at noon", "ham"),
    ]
]
TEXTS = ["claim cash", "lunch at noon", "minutes of the prize", "unknown words"]
MODELS = {
    "OnlineNB": streamnb.OnlineNB(),
    "MNB": streamnb.MNB(),
    "HMNB": streamnb.HMNB(),
    "forgetting": streamnb.CNB(half_life=100.0),
    "Challenger": Challenger(streamnb.MNB()),
}


def main() -> None:
    FOLDER.mkdir()
    shares = {}
    for name, model in MODELS.items():
        for text, label in LESSONS:
            model.learn_one(text, label)
        (FOLDER / f"{name}.streamnb").write_bytes(model.to_bytes())
        shares[name] = {text: model.predict_proba_one(text) for text in TEXTS}
    (FOLDER / "shares.json").write_text(json.dumps(shares, indent=1) + "\n")
    records = [
        {"id": str(n), "text": text, "label": label} for n, (text, label) in enumerate(LESSONS)
    ]
    subprocess.run(
        [Path(sys.executable).parent / "streamnb-sms", "--snapshots", FOLDER / "sms"],
        input="".join(json.dumps(record) + "\n" for record in records),
        text=True,
        check=True,
    )


if __name__ == "__main__":
    main()
