"""The readers of the papers' collections: word counts, and tables of attributes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.papers.readers import read_counts, read_tabular
from streamnb.errors import DataError, InputError
from support.data import require_data

# Documents, words, classes, smallest and largest class, entries, tokens: the data folder's README.
COUNTS = {
    "fbis": (2463, 2000, 17, 38, 506, 393_386, 1_063_914),
    "la1s": (3204, 31_472, 6, 273, 943, 484_024, 795_581),
    "oh0": (1003, 3182, 10, 51, 194, 52_673, 87_428),
    "oh5": (918, 3012, 10, 59, 149, 49_974, 84_872),
    "oh15": (913, 3100, 10, 53, 157, 54_147, 95_521),
    "re0": (1504, 2886, 13, 11, 608, 77_808, 128_671),
    "re1": (1657, 3758, 25, 10, 371, 87_328, 142_680),
    "cora": (2708, 1432, 7, 180, 818, 49_216, 49_216),
    "citeseer": (3312, 3703, 6, 249, 701, 105_165, 105_165),
    "webkb_linqs": (877, 1703, 5, 39, 415, 79_365, 79_365),
}
# Rows, attributes, classes, smallest and largest class, rows with missing values.
TABULAR = {
    "arrhythmia": (452, 279, 13, 2, 245, 384),
    "car": (1728, 6, 4, 65, 1210, 0),
    "krkopt": (28_056, 6, 18, 27, 4553, 0),
    "letter": (20_000, 16, 26, 734, 813, 0),
    "mfeat_pixel": (2000, 240, 10, 200, 200, 0),
    "sick": (3772, 29, 2, 231, 3541, 3772),
    "tae": (151, 5, 3, 49, 52, 0),
    "wall_following_4": (5456, 4, 4, 328, 2205, 0),
    "yeast": (1484, 8, 10, 5, 463, 0),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_have_the_published_figures(name):
    require_data(f"counts/{name}.svm.xz")
    matrix, labels, vocabulary = read_counts(name)
    sizes = Counter(labels).values()
    found = (len(labels), len(vocabulary), len(sizes), min(sizes), max(sizes), matrix.nnz)
    assert (*found, int(matrix.sum())) == COUNTS[name]
    assert matrix.shape == COUNTS[name][:2]
    assert matrix.format == "csr"
    assert matrix.has_sorted_indices
    if name == "la1s":
        frequencies = np.bincount(matrix.indices, minlength=matrix.shape[1])
        assert np.count_nonzero(frequencies) == 29_714
        assert np.count_nonzero(frequencies >= 3) == 13_195


def test_words_of_counts():
    require_data("counts/oh0.svm.xz", "counts/oh0.words.txt.xz")
    assert read_counts("oh0").vocabulary[:3] == ["depart", "cluster", "nephropathi"]
    require_data("counts/re0.svm.xz")
    assert read_counts("re0").vocabulary[:3] == ["1", "2", "3"]
    assert read_counts("re0", n_words=3000).matrix.shape == (1504, 3000)


@pytest.mark.parametrize("name", TABULAR)
def test_tabular_has_the_published_figures(name):
    require_data(f"tabular/{name}.csv.xz")
    rows = list(read_tabular(name))
    sizes = Counter(label for _, label in rows).values()
    missing = sum(None in attributes.values() for attributes, _ in rows)
    widths = {len(attributes) for attributes, _ in rows}
    assert len(widths) == 1
    found = (len(rows), widths.pop(), len(sizes), min(sizes), max(sizes), missing)
    assert found == TABULAR[name]


def test_types_of_tabular_values():
    require_data("tabular/sick.csv.xz", "tabular/car.csv.xz", "tabular/wall_following_4.csv.xz")
    attributes, label = next(iter(read_tabular("sick")))
    assert label == "negative"
    assert (attributes["age"], attributes["sex"], attributes["T3"]) == (41, "F", 2.5)
    assert attributes["TBG"] is None
    # One value that is no number makes an attribute nominal, for all rows.
    for place in range(6):
        values = [list(row.values())[place] for row, _ in read_tabular("car")]
        assert len({type(value) for value in values}) == 1
    first, _ = next(iter(read_tabular("wall_following_4")))
    assert list(first.values()) == [1.687, 0.445, 2.332, 0.429]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("a 1:2 x\n", r"line 1: 'x' is not INDEX:COUNT"),
        ("a 1:2\nb 2:1 2:1\n", r"line 2: '2:1': indices should ascend"),
        ("a 0:1\n", "indices should ascend from 1"),
        ("a 1:-1\n", "not negative"),
        ("a 1:nan\n", "finite"),
        ("a 1:inf\n", "finite"),
    ],
)
def test_bad_counts(tmp_path, content, match):
    path = tmp_path / "bad.svm"
    path.write_text(content)
    with pytest.raises(DataError, match=match):
        read_counts(path)


def test_counts_with_a_word_list_of_another_length(tmp_path):
    path = tmp_path / "some.svm"
    path.write_text("a 3:1\n")
    (tmp_path / "some.words.txt").write_text("one\ntwo\n")
    with pytest.raises(DataError, match="the greatest index is 3, the word list has 2 words"):
        read_counts(path)


def test_bad_tables(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("x,class\n1,a\n1\n")
    with pytest.raises(DataError, match="line 3: 1 fields, where the header has 2"):
        list(read_tabular(path))
    path.write_text("x,x,class\n1,1,a\n")
    with pytest.raises(DataError, match="two columns"):
        list(read_tabular(path))
    path.write_text("x,y\n1,a\n")
    with pytest.raises(InputError, match="no column 'class'"):
        read_tabular(path)
