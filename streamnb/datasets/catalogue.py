"""The names of the streams, and the collections that can be fetched.

The checksums are published in the sources of Hugging Face's `datasets` (SMS), of scikit-learn
(20 Newsgroups), and of projects that pin the archives (SpamAssassin; for Enron-Spam only one).
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Collection:
    """A collection of messages that can be fetched.

    Attributes
    ----------
    file
        Name of its file in the data folder.
    title
        Title.
    licence
        Licence, as stated by its publishers.
    home
        Web page.
    archives
        Address and SHA-256 checksum of each archive.
    """

    file: str
    title: str
    licence: str
    home: str
    archives: tuple[tuple[str, str], ...]


_SPAMASSASSIN = "https://spamassassin.apache.org/old/publiccorpus/"
# The certificate chain of its https address is incomplete; the checksum protects the download.
_ENRON = "http://www2.aueb.gr/users/ion/data/enron-spam/preprocessed/"

COLLECTIONS = {
    "sms": Collection(
        "sms_spam",
        "SMS Spam Collection v.1 (Almeida, Gómez Hidalgo, Yamakami 2011)",
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        (
            (
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
            (
                _SPAMASSASSIN + "20030228_easy_ham.tar.bz2",
                "2b7b65904bcfcc31d2b5f51946f2d261370b257402cbbd62930b46ab83367438",
            ),
            (
                _SPAMASSASSIN + "20030228_easy_ham_2.tar.bz2",
                "b4bd3dc5ae5b40f38e99a0e41ad7d16b428b56e818e3a6ffa07330d62004dd38",
            ),
            (
                _SPAMASSASSIN + "20030228_hard_ham.tar.bz2",
                "ce2ce67880643dbde65ea7f85bffbfe4417349c4bd80b6b0de56262ae6b0a9c9",
            ),
            (
                _SPAMASSASSIN + "20030228_spam.tar.bz2",
                "c08debc32413804949a866be45ef78195cec2cbafd1da744ed76cdb860589743",
            ),
            (
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
            (
                _ENRON + "enron1.tar.gz",
                "3d6a1fcced6c30b1701a3fd04c6b912d7046208f6ef6f4fdcf022f64bdc6c32f",
            ),
            (
                _ENRON + "enron2.tar.gz",
                "9b5bf5c4844eb4ecead52de8c676ff8761c2d7037fdc175851c88ef52c827315",
            ),
            (
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
            (
                "https://ndownloader.figshare.com/files/5975967",
                "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            ),
        ),
    ),
}

DESCRIPTIONS = {
    "sms": "SMS Spam Collection: 5,574 real short messages, 13 % spam, in the collection's order",
    "synthetic-sms": "5,000 made-up short messages, 13 % spam, with drift; runs without any data",
    "sms-de": (
        "the SMS collection translated into German by machine: 5,572 messages, 13 % spam, in order"
    ),
    "sms-hi": "the SMS collection translated into Hindi by machine: 5,572 messages, in order",
    "spamassassin": (
        "SpamAssassin public corpus: 6,046 mails of 2001 and 2002 in order of time, 31 % spam"
    ),
    "enron": "Enron-Spam 1 to 3: 16,541 mails, three mailboxes one after the other, 27 % spam",
    "20news": "20 Newsgroups: 18,846 posts in 20 classes, shuffled with the seed",
    "r8": "Reuters R8: 7,674 news stories in 8 skewed classes, shuffled with the seed",
    "reuters": "Reuters-21578: the 9,494 stories with one topic, in order of time",
    "csdmc2010": "CSDMC 2010: 4,327 complete mails with headers (--mails), 32 % spam",
    "exais-sms": (
        "ExAIS SMS: 5,240 Nigerian messages of 20 users (--fields user), in order, 45 % spam"
    ),
    "smishing": "SMS phishing data set: 5,971 messages in 3 classes (ham, spam, smishing)",
    "banking77": "banking77: 13,083 questions to a bank in 77 classes, shuffled with the seed",
}
"""Description of each stream, by its name."""
