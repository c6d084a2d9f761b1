"""Files and copies keep the form of documents."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from typing import Any

import pytest

import streamnb
from streamnb.errors import ModelFileError
from streamnb.model import persistence
from support.models import COUNTING, make_model, structures
from support.streams import learned, sms_stream, synthetic_stream


@pytest.mark.parametrize("term_weighting", ["presence", "log-unit"])
@structures(COUNTING)
def test_files_and_copies_keep_the_form(name: str, term_weighting: str) -> None:
    stream = synthetic_stream(60)
    model = learned(make_model(name, term_weighting=term_weighting), stream[:40])
    for twin in (
        type(model).from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        again = copy.deepcopy(model)
        assert twin.term_weighting == term_weighting
        for x, y, w in stream[40:]:
            expected = again.joint_log_likelihood_one(x)
            assert twin.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-12)
            twin.learn_one(x, y, w)
            again.learn_one(x, y, w)
        assert twin.to_bytes() == again.to_bytes()
    assert model.clone().term_weighting == term_weighting
    assert model.clone({"term_weighting": "counts"}).term_weighting == "counts"


def with_parts(data: bytes, header: dict[str, Any], counts: bytes) -> bytes:
    """Return a model file with another header and other counts, its checksum right."""
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = len(encoded).to_bytes(8, "little") + encoded + counts
    return data[:12] + hashlib.sha256(body).digest() + body


def test_damaged_forms_are_refused() -> None:
    data = learned(make_model("MNB", term_weighting="log-unit"), synthetic_stream(40)).to_bytes()
    header, counts = persistence.unpacked(data)
    for version in (b"\x00", bytes([counts[8] + 1])):
        with pytest.raises(ModelFileError, match="version"):
            streamnb.MNB.from_bytes(with_parts(data, header, b"streamnb" + version + counts[9:]))
    header["parameters"]["term_weighting"] = "idf"
    with pytest.raises(ModelFileError, match="term_weighting"):
        streamnb.MNB.from_bytes(with_parts(data, header, counts))
    # The counts have another form than the model says.
    header["parameters"]["term_weighting"] = "unit"
    with pytest.raises(ModelFileError, match="term_weighting"):
        streamnb.MNB.from_bytes(with_parts(data, header, counts))


def test_values_take_few_bytes_of_a_file() -> None:
    plain, logs = (
        learned(make_model("MNB", term_weighting=term_weighting), sms_stream(200))
        for term_weighting in ("counts", "log-unit")
    )
    assert len(logs.to_bytes()) < 1.4 * len(plain.to_bytes())
