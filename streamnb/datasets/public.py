"""The collections that can be fetched: their addresses, checksums and licences.

The checksums are published ones: of SMS and 20 Newsgroups in the sources of Hugging Face's
`datasets` and of scikit-learn, of SpamAssassin and Enron-Spam in those of projects that pin them
(for Enron-Spam one project only).
"""

from __future__ import annotations

import dataclasses

__all__ = ["COLLECTIONS", "Archive", "Collection"]


@dataclasses.dataclass(frozen=True)
class Archive:
    """A file that is downloaded.

    Attributes
    ----------
    url
        Its public address.
    sha256
        Its published checksum, in hexadecimal digits.
    """

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the cache folder."""
        return f"{self.sha256[:12]}-{self.url.rstrip('/').rpartition('/')[2]}"


@dataclasses.dataclass(frozen=True)
class Collection:
    """A collection of messages that can be fetched.

    Attributes
    ----------
    file
        The name of its file, as in the data folder.
    title
        What it is called.
    licence
        What its publishers allow, as far as they say it.
    home
        The page that tells of it.
    archives
        What is downloaded.
    """

    file: str
    title: str
    licence: str
    home: str
    archives: tuple[Archive, ...]


_SPAMASSASSIN = "https://spamassassin.apache.org/old/publiccorpus/"
# Its https address has an incomplete chain of certificates; the checksum is what is relied on.
_ENRON = "http://www2.aueb.gr/users/ion/data/enron-spam/preprocessed/"

COLLECTIONS = {
    "sms": Collection(
        "sms_spam",
        "SMS Spam Collection v.1 (Almeida, Gómez Hidalgo, Yamakami 2011)",
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        (
            Archive(
                "https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
                "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
            ),
        ),
    ),
    "spamassassin": Collection(
        "spamassassin",
        "SpamAssassin public mail corpus, edition of 2003, spam_2 of 2005",
        "for testing spam filters; copyright of each mail remains with its sender",
        "https://spamassassin.apache.org/old/publiccorpus/readme.html",
        (
            Archive(
                _SPAMASSASSIN + "20030228_easy_ham.tar.bz2",
                "2b7b65904bcfcc31d2b5f51946f2d261370b257402cbbd62930b46ab83367438",
            ),
            Archive(
                _SPAMASSASSIN + "20030228_easy_ham_2.tar.bz2",
                "b4bd3dc5ae5b40f38e99a0e41ad7d16b428b56e818e3a6ffa07330d62004dd38",
            ),
            Archive(
                _SPAMASSASSIN + "20030228_hard_ham.tar.bz2",
                "ce2ce67880643dbde65ea7f85bffbfe4417349c4bd80b6b0de56262ae6b0a9c9",
            ),
            Archive(
                _SPAMASSASSIN + "20030228_spam.tar.bz2",
                "c08debc32413804949a866be45ef78195cec2cbafd1da744ed76cdb860589743",
            ),
            Archive(
                _SPAMASSASSIN + "20050311_spam_2.tar.bz2",
                "44280a0e28bf7645b2279e8e42659271ad82c6f40bf8d364dbda7f1df344a765",
            ),
        ),
    ),
    "enron": Collection(
        "enron_spam",
        "Enron-Spam, preprocessed, 1 to 3 (Metsis, Androutsopoulos, Paliouras 2006)",
        "for research; no licence is stated",
        "https://www2.aueb.gr/users/ion/data/enron-spam/",
        (
            Archive(
                _ENRON + "enron1.tar.gz",
                "3d6a1fcced6c30b1701a3fd04c6b912d7046208f6ef6f4fdcf022f64bdc6c32f",
            ),
            Archive(
                _ENRON + "enron2.tar.gz",
                "9b5bf5c4844eb4ecead52de8c676ff8761c2d7037fdc175851c88ef52c827315",
            ),
            Archive(
                _ENRON + "enron3.tar.gz",
                "9321ca1c195b45b6f0fb795963a8020ff317e7ebac2c102205272f0b91a1ac0b",
            ),
        ),
    ),
    "20news": Collection(
        "20news_bydate",
        "20 Newsgroups, sorted by date",
        "for research; no licence is stated",
        "http://qwone.com/~jason/20Newsgroups/",
        (
            Archive(
                "https://ndownloader.figshare.com/files/5975967",
                "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            ),
        ),
    ),
}
