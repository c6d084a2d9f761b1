"""The names of the streams: light, for whoever only wants to know whether there is one."""

from __future__ import annotations

__all__ = ["DESCRIPTIONS"]

DESCRIPTIONS = {
    "sms": "SMS Spam Collection: 5,574 real short messages, 13 % spam, in the collection's order",
    "synthetic-sms": "5,000 made-up short messages, 13 % spam, with drift; runs without any data",
    "sms-de": (
        "the SMS collection translated into German by machine: 5,572 messages, 13 % spam, in order"
    ),
    "sms-hi": "the same in Hindi",
    "spamassassin": (
        "SpamAssassin public corpus: 6,046 mails of 2001 and 2002 in order of time, 31 % spam"
    ),
    "enron": "Enron-Spam 1 to 3: 16,541 mails, three mailboxes one after the other, 27 % spam",
    "20news": "20 Newsgroups: 18,846 posts in 20 classes, shuffled with the seed",
    "r8": "Reuters R8: 7,674 news stories in 8 skewed classes, shuffled with the seed",
    "reuters": "Reuters-21578: the 9,494 stories with one topic, in order of time",
}
"""Name of each stream → what it is, in a sentence."""
