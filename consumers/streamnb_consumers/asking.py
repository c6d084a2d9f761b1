"""`streamnb-spam -p` and labels by a running listener: it answers before this process could start.

The start of a filter takes some tenths of a second. This module imports only what a request needs,
so that a mail takes little more than the start of Python. Everything else is in `daemon.command`.
"""

from __future__ import annotations

# `socket` would double the time: it imports ten more modules.
import _socket
import os
import sys
from collections.abc import Sequence

_SECONDS = 30.0
_DECISIONS = {"spam": 0, "ham": 1, "unsure": 2}  # exit statuses of bogofilter
# Headers of the protocol of spamd for the flags that learn and unlearn one mail.
_LABELS = {
    "s": "Message-class: spam\r\nSet: local\r\n",
    "n": "Message-class: ham\r\nSet: local\r\n",
    "S": "Remove: local\r\n",
    "N": "Remove: local\r\n",
}
_LABELS |= {"Ns": _LABELS["s"], "Sn": _LABELS["n"]}


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status.

    With a Unix socket (`--socket` or `STREAMNB_SOCKET`), the flags `-p`, `-e`, `-s`, `-n`, `-S` and
    `-N` alone are requests to its listener. Without an answer they use the state folder.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    mail = None
    if asked := request_of(arguments, os.environ.get("STREAMNB_SOCKET", "")):
        path, letters = asked
        mail = sys.stdin.buffer.read()
        status = _ask(path, letters, mail)
        if status is not None:
            return status
    from streamnb_consumers.daemon import command

    if mail is None:
        return command.run_spam(arguments)
    return command.run_one_mail(arguments, mail)


def request_of(arguments: Sequence[str], path: str) -> tuple[str, str] | None:
    """Return the socket and the sorted letters of a call that a listener can answer, else None.

    Examples
    --------
    >>> request_of(["-pe"], "/run/x"), request_of(["-N", "-s", "--socket", "/run/y"], "")
    (('/run/x', 'ep'), ('/run/y', 'Ns'))
    >>> request_of(["-pu"], "/run/x"), request_of(["-p"], ""), request_of(["-p", "--batch=2"], "/x")
    (None, None, None)
    """
    letters, left = set[str](), list(arguments)
    while left:
        one = left.pop(0)
        if one == "--socket" and left:
            path = left.pop(0)
        elif one.startswith("--socket="):
            path = one[len("--socket=") :]
        elif one[:1] == "-" and one[1:].isalpha():
            letters.update(one[1:])
        else:
            return None
    found = "".join(sorted(letters))
    return (path, found) if path and (found in ("p", "ep") or found in _LABELS) else None


def _ask(path: str, letters: str, mail: bytes) -> int | None:
    """Return the exit status that a listener gives a mail; None without an answer."""
    decides = "p" in letters
    user = os.environ.get("LOGNAME", "").strip()
    lines = f"{'PROCESS' if decides else 'TELL'} SPAMC/1.5\r\nContent-length: {len(mail)}\r\n"
    lines += f"User: {user}\r\n" if user.isprintable() and user else ""
    lines += "" if decides else _LABELS[letters]
    answer = bytearray()
    try:
        client = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            client.settimeout(_SECONDS)
            client.connect(path)
            client.sendall(lines.encode() + b"\r\n" + mail)
            while block := client.recv(1 << 20):
                answer += block
        finally:
            client.close()
    except OSError:
        return None
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    status, *others = head.decode("utf-8", "replace").split("\r\n")
    headers = dict(line.split(": ", 1) for line in others if ": " in line)
    if not status.endswith(" 0 EX_OK") or len(body) != int(headers.get("Content-length", -1)):
        return None
    if not decides:
        return 0
    decided = _DECISIONS.get(headers.get("Streamnb-Decision", ""))
    if decided is None:
        return None
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()
    return 0 if "e" in letters else decided
