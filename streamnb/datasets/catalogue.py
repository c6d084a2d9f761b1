"""The names of the streams, and the collections that can be fetched."""

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
        Name of each archive in `archives.txt`, which has addresses and checksums.
    """

    file: str
    title: str
    licence: str
    home: str
    archives: tuple[str, ...]


COLLECTIONS = {
    "sms": Collection(
        "sms_spam",
        "SMS Spam Collection v.1 (Almeida, Gómez Hidalgo, Yamakami 2011)",
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        ("sms-spam-collection.zip",),
    ),
    "spamassassin": Collection(
        "spamassassin",
        "SpamAssassin public mail corpus, edition of 2003, spam_2 of 2005",
        "for testing spam filters; copyright of each mail remains with its sender",
        "https://spamassassin.apache.org/old/publiccorpus/readme.html",
        (
            "20030228_easy_ham.tar.bz2",
            "20030228_easy_ham_2.tar.bz2",
            "20030228_hard_ham.tar.bz2",
            "20030228_spam.tar.bz2",
            "20050311_spam_2.tar.bz2",
        ),
    ),
    "enron": Collection(
        "enron_spam",
        "Enron-Spam, preprocessed, 1 to 3 (Metsis, Androutsopoulos, Paliouras 2006)",
        "for research; no licence is stated",
        "https://www2.aueb.gr/users/ion/data/enron-spam/",
        ("enron1.tar.gz", "enron2.tar.gz", "enron3.tar.gz"),
    ),
    "20news": Collection(
        "20news_bydate",
        "20 Newsgroups, sorted by date",
        "for research; no licence is stated",
        "http://qwone.com/~jason/20Newsgroups/",
        ("20news-bydate.tar.gz",),
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
    "reuters-topics": (
        "Reuters-21578, ModApte order: 10,789 stories with one to 15 of 90 topics (MultiLabelNB)"
    ),
    "csdmc2010": "CSDMC 2010: 4,327 complete mails with headers (--mails), 32 % spam",
    "exais-sms": (
        "ExAIS SMS: 5,240 Nigerian messages of 20 users (--fields user), in order, 45 % spam"
    ),
    "smishing": "SMS phishing data set: 5,971 messages in 3 classes (ham, spam, smishing)",
    "banking77": "banking77: 13,083 questions to a bank in 77 classes, shuffled with the seed",
}
"""Description of each stream, by its name."""
