"""The protocol of SpamAssassin's spamd, for `spamc`, Exim, spamass-milter and libraries.

See `spamd/PROTOCOL` in SpamAssassin, version 1.5.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from streamnb.errors import StreamNBError
from streamnb.mail.header_block import header_end, with_header, without_header
from streamnb.model.threshold import UNSURE
from streamnb_consumers.daemon.listen.requests import Answer
from streamnb_consumers.daemon.listen.service import REQUIRED, Service, points
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import BusyError
from streamnb_consumers.records import Decision

REQUEST_LINE = re.compile(rb"([A-Z_]{1,20}) SPAMC/(\d{1,3}\.\d{1,3})\s*$")
_CHECKS = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS")
_WORDS = 20  # that a report lists
_MOST_HEADERS, _LONGEST = 50, 65_536  # of a request, and the bytes of one
_SEVERAL_HEADERS = 1.3  # version of the protocol
# Statuses of sysexits.h.
_BAD_DATA, _BUSY, _BAD_REQUEST = (65, "EX_DATAERR"), (75, "EX_TEMPFAIL"), (76, "EX_PROTOCOL")


class _RequestError(Exception):
    """The request does not follow the protocol."""


class _Request(NamedTuple):
    command: str
    version: float
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""


class _Reply(NamedTuple):
    headers: Mapping[str, str]
    body: bytes = b""


def connection(service: Service, on_request: Callable[[], None]) -> asyncio.Protocol:
    """Return the protocol of a connection: it answers one request, and closes the connection.

    `on_request` is called when the whole request has come. More data than the request is ignored.
    A client that ends its side still gets the answer.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader, service.max_bytes)
            on_request()
            output = await _reply(request, service)
        except _RequestError as error:
            output = _failure(_BAD_REQUEST, str(error))
        except BusyError as error:
            output = _failure(_BUSY, str(error))
        except StreamNBError as error:
            output = _failure(_BAD_DATA, str(error))
        except ConnectionError:  # the client has left
            return
        writer.write(output)
        writer.close()

    return asyncio.StreamReaderProtocol(asyncio.StreamReader(_LONGEST), answer)


def _failure(status: tuple[int, str], why: str) -> bytes:
    line = " ".join(why.split())[:300]
    # `spamc -L` ignores the status and reports success, but fails if the empty line is missing.
    # So a label that can be sent again is not lost.
    end = "\r\n" if status == _BAD_DATA else ""
    return f"SPAMD/1.1 {status[0]} {status[1]}: {line}\r\n{end}".encode()


TOO_MANY = _failure(_BUSY, "too many connections")
NOT_ADMITTED = _failure(_BAD_REQUEST, "set spamd_clients")


async def _read(reader: asyncio.StreamReader, most: int) -> _Request:
    """Return the request of a client; without a length, its message ends with the input."""
    found = REQUEST_LINE.match(await _line(reader))
    if found is None:
        raise _RequestError("the request is no line like CHECK SPAMC/1.5")
    command, version = found[1].decode(), float(found[2])
    if command in ("PING", "SKIP"):
        return _Request(command, version)
    if command not in (*_CHECKS, "TELL"):
        raise _RequestError(f"there is no command {command}: use one of {', '.join(_CHECKS)}, TELL")
    headers = await _headers(reader)
    given = headers.get("content-length")
    if given is not None and not (given.isascii() and given.isdigit() and len(given) <= 18):
        raise _RequestError(f"Content-length must be a number, not {given[:50]!r}")
    if given is not None and int(given) > most:
        raise _RequestError(f"Content-length is {given}, more than max_bytes ({most:,})")
    wanted = most + 1 if given is None else int(given)
    try:
        raw = await reader.readexactly(wanted)
    except asyncio.IncompleteReadError as error:
        raw = error.partial
    if given is not None and len(raw) < wanted:
        raise _RequestError(f"the body has {len(raw)} bytes, and Content-length is {given}")
    if headers.get("compress", "").lower() == "zlib":
        try:
            raw = zlib.decompressobj().decompress(raw, most + 1)
        except zlib.error as error:
            raise _RequestError(f"the body is not zlib data: {error}") from None
    if len(raw) > most:
        raise _RequestError(f"the message has more than max_bytes ({most:,})")
    return _Request(command, version, headers, raw)


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    """Return the headers of a request, which end with an empty line or the input."""
    headers: dict[str, str] = {}
    while line := (await _line(reader)).strip():
        name, colon, value = line.decode("utf-8", "replace").partition(":")
        if not colon or len(headers) >= _MOST_HEADERS:
            raise _RequestError(f"not a header: {name[:100]!r}")
        headers[name.strip().lower()] = value.strip()
    return headers


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        raise _RequestError(f"a line has more than {_LONGEST:,} bytes") from None


async def _reply(request: _Request, service: Service) -> bytes:
    command, version, headers, raw = request
    if command == "PING":
        return b"SPAMD/1.5 0 PONG\r\n\r\n"
    if command == "SKIP":
        return b""
    if command == "TELL":
        reply = await _tell(service, headers, raw)
    else:
        reply = await _check(service, request)
    lines = [f"{name}: {value}\r\n" for name, value in reply.headers.items()]
    # Older clients, such as Exim, expect one header.
    if version >= _SEVERAL_HEADERS or not lines:
        lines.append(f"Content-length: {len(reply.body)}\r\n")
    return b"SPAMD/1.1 0 EX_OK\r\n" + "".join([*lines, "\r\n"]).encode() + reply.body


async def _tell(service: Service, headers: Mapping[str, str], raw: bytes) -> _Reply:
    """Learn or unlearn a message."""
    settings = service.settings
    labels = {"spam": settings.pos_label, "ham": settings.negative}
    learns, unlearns = ("local" in headers.get(name, "") for name in ("set", "remove"))
    if learns:
        label = labels.get(headers.get("message-class", "").lower())
        if label is None:
            given = headers.get("message-class", "")
            raise _RequestError(f"Message-class must be spam or ham, not {given[:50]!r}")
        answer = _checked(await service.classify(raw, headers, label))
    elif unlearns:
        answer = _checked(await service.unlearn(raw, headers))
    else:
        raise _RequestError("TELL needs the header Set: local or Remove: local")
    did: dict[str, str] = {}
    if answer.learned is not None or (learns and answer.accepted):
        did["DidSet"] = "local"
    elif answer.unlearned is not None or answer.accepted:
        did["DidRemove"] = "local"
    if answer.result is not None:  # clients ignore headers that they do not know
        kept = "" if answer.kept is None else f"; kept={answer.kept}"
        did["Streamnb-Result"] = answer.result + kept
    return _Reply(did)


async def _check(service: Service, request: _Request) -> _Reply:
    """Decide a message."""
    command, version, given, raw = request
    settings = service.settings
    words = _WORDS if command in ("SYMBOLS", "REPORT", "REPORT_IFSPAM") else 0
    decision = _checked(await service.classify(raw, given, words=words)).decision
    if decision is None:
        raise _RequestError("the input is a label, not a message")
    score, is_spam = points(decision, settings.pos_label), decision.label == settings.pos_label
    headers = {"Spam": f"{is_spam} ; {score:.1f} / {REQUIRED:.1f}"}
    if version >= _SEVERAL_HEADERS:
        is_unsure = decision.label == UNSURE
        headers["Streamnb-Decision"] = "spam" if is_spam else "unsure" if is_unsure else "ham"
    found = decision.words or ()
    if command == "SYMBOLS":
        names = (re.sub(r"[^\w.:@+-]+", "_", word) for word, _ in found)
        return _Reply(headers, ",".join(names).encode())
    if command == "REPORT" or (command == "REPORT_IFSPAM" and is_spam):
        return _Reply(headers, _report(found, score).encode())
    if command in ("HEADERS", "PROCESS"):
        whole = _marked(raw, settings, decision)
        return _Reply(headers, whole if command == "PROCESS" else whole[: header_end(whole)])
    return _Reply(headers)


def _checked(answer: Answer) -> Answer:
    if answer.error:
        raise StreamNBError(answer.error)
    return answer


def _report(words: tuple[tuple[str, float], ...], score: float) -> str:
    lines = [f"Content analysis details:   ({score:.1f} points, {REQUIRED:.1f} required)", ""]
    lines += [" pts word", "---- ----------------------"]
    lines += [f"{towards:4.1f} {' '.join(word.split())}" for word, towards in words]
    return "\n".join(lines) + "\n"


def _marked(raw: bytes, settings: Settings, decision: Decision) -> bytes:
    """Return a mail with the headers that SpamAssassin adds; `Unsure` takes the place of `No`."""
    score, is_spam = points(decision, settings.pos_label), decision.label == settings.pos_label
    answer = "Yes" if is_spam else "Unsure" if decision.label == UNSURE else "No"
    status = f"{answer}, score={score:.1f} required={REQUIRED:.1f} version={decision.version}"
    header = settings.status_header
    added = {header: status, "X-Spam-Level": "*" * max(0, min(50, int(score)))}
    if is_spam:
        added["X-Spam-Flag"] = "YES"
    for name in (header, "X-Spam-Level", "X-Spam-Flag"):
        raw = without_header(raw, name)
    for name, value in added.items():
        raw = with_header(raw, name, value)
    return raw
