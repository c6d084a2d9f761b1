"""The recipes for mail servers, as the how-to pages have them, on the real programs."""

from __future__ import annotations

import contextlib
import imaplib
import os
import pwd
import random
import re
import shutil
import smtplib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.filters import text
from support.listener import Listener, listening

pytestmark = pytest.mark.mail_servers
PAGES = Path(__file__).parents[2] / "docs" / "how-to"


# A mail begins in INBOX; the label that each of its moves teaches.
MOVES = (
    ("Junk", "spam"),
    ("INBOX", "ham"),
    ("Junk", "spam"),
    ("Trash", None),
    ("INBOX", None),
    ("Junk", None),  # learned before
    ("Deleted Items", None),
    ("INBOX", None),
    ("Junk", None),
    ("Papierkorb", None),
    ("INBOX", None),
    ("Junk", None),
    ("Junk.Archive", None),
    ("INBOX", "ham"),
    ("Pourriel", "spam"),  # a folder with the flag \\Junk
    ("Junk", None),
    ("Pourriel", None),
    ("Gone", None),  # a folder with the flag \\Trash
    ("INBOX", None),
    ("Pourriel", None),
    ("INBOX", "ham"),
)


def needed(*names: str) -> None:
    """Skip the test if a program is missing, or the user may not run servers."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    if os.geteuid():
        pytest.skip("mail servers need root")


def block(page: str, title: str) -> str:
    """Return the file with this title in a page."""
    found = re.search(
        rf'^```\w+ title="{title}"\n(.*?)^```', (PAGES / page).read_text(), re.M | re.S
    )
    assert found is not None
    return found[1]


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def mail(label: str, number: int) -> str:
    generator = random.Random(number)
    return (
        f"From: {label}@y.example\nTo: ann@example\nMessage-ID: <{number}@y.example>\n"
        f"Subject: {text(label, generator)}\n\n{text(label, generator)}\n"
    )


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if found := condition():
                return found
        time.sleep(0.05)
    raise AssertionError("nothing happened in time")


def connects(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 1):
        return True


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder outside those of pytest, which each start of pytest closes to other users."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def filtering(tmp_path: Path) -> Iterator[Listener]:
    with listening(tmp_path / "state") as listener:
        # With 60, one label moves words that the server itself adds by enough to change a decision.
        for number in range(300):
            label = ("ham", "spam")[number % 2]
            listener.spamd("TELL", mail(label, number).encode(), Message_class=label, Set="local")
        yield listener


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        wait_for(lambda: connects(port))
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def running_exim(conf: Path) -> Iterator[int]:
    """Run Exim with a port of its own: deliveries of an earlier one may still hold its socket."""
    port = free_port()
    command = ["exim4", "-C", str(conf), "-bdf", "-oX", f"127.0.0.1.{port}", "-oP", "/dev/null"]
    with running(command, port):
        yield port


@contextlib.contextmanager
def running_postfix(folder: Path, port: int) -> Iterator[None]:
    """Run Postfix; its master process outlives the command that started it."""
    with running(["postfix", "-c", str(folder), "start-fg"], port):
        try:
            yield
        finally:
            subprocess.run(["postfix", "-c", str(folder), "stop"], check=True)


def open_folder(path: Path) -> Path:
    """Return a new folder that every user may write to."""
    path.mkdir(exist_ok=True)
    for each in (path, *list(path.parents)[:4]):
        if len(each.parts) > 2:
            each.chmod(0o777)
    return path


def send(port: int, label: str, number: int, to: str = "ann") -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
        client.sendmail(f"{label}@y.example", [f"{to}@example"], mail(label, number))


class Learning:
    """The script `learn` of the page, with a spool folder of its own."""

    def __init__(self, folder: Path, listener: Listener) -> None:
        self.folder, self._listener = open_folder(folder / "learning"), listener
        self.spool = open_folder(self.folder / "spool")
        written = block("connect-a-mail-server.md", "learn").replace("/var/spool/streamnb", "{}")
        self.path = self.folder / "learn"
        self.path.write_text(written.replace("{}", str(self.spool)).replace("7830", self._port))
        self.path.chmod(0o755)

    @property
    def _port(self) -> str:
        return str(self._listener.port)

    def run(self, *arguments: str, raw: bytes = b"") -> int:
        """Run the script; return its exit status."""
        return subprocess.run([str(self.path), *arguments], input=raw, check=False).returncode

    def waiting(self) -> list[Path]:
        """Return the labels that wait."""
        return sorted(self.spool.glob("[0-9]*"))

    def check_later(self, label: Callable[[], object], raw: bytes, **headers: str) -> None:
        """Check that a label that is given while the listener is down is learned later."""
        self._listener.kill()
        label()
        wait_for(self.waiting)
        self._listener.start()
        before = self._listener.learned()
        assert self.run() == 0
        assert not self.waiting()
        assert self._listener.learned() == before + 1
        again = self._listener.spamd("TELL", raw, Message_class="spam", Set="local", **headers)
        assert again[1]["Streamnb-Result"] == "learned_before"


def check_delivery(port: int, inbox: Path, sent: tuple[str, ...] = ("ham", "spam")) -> None:
    """Send mails; check that each arrives with the header of the filter."""
    for at, label in enumerate(sent):
        send(port, label, 1000 + at)
        answer = {"ham": "No", "spam": "Yes"}[label]
        wait_for(lambda answer=answer: f"X-Spam-Status: {answer}, score=" in inbox.read_text())


def test_exim(tmp_path: Path, filtering: Listener) -> None:
    needed("exim4")
    folder = open_folder(tmp_path / "exim")
    spool = Path("/var/spool/exim4").stat()
    written = block("exim.md", "exim.conf")
    learning = Learning(tmp_path, filtering)
    written = written.replace("/var/mail", str(folder)).replace("7830", str(filtering.port))
    written = written.replace("/usr/local/lib/streamnb/learn", str(learning.path))
    # A test may not use the usual file, and Exim keeps no privileges with another one.
    written = written.replace("user = mail", f"user = {pwd.getpwuid(spool.st_uid).pw_name}")
    user = f"spool_directory = {folder}/spool\nlog_file_path = {folder}/log_%s\n"
    high = written.replace("{150}", "{9999}")
    for name, text_ in (("exim.conf", high), ("strict.conf", written.replace("{150}", "{50}"))):
        conf = folder / name
        conf.write_text(user + text_)
        conf.chmod(0o644)
        with running_exim(conf) as port:
            if name == "exim.conf":
                check_delivery(port, folder / "ann")
                raw = mail("spam", 2500).encode()
                learning.check_later(lambda port=port: send(port, "spam", 2500, "ann+spam"), raw)
                # Words of the headers that Exim adds were met in spam only so far.
                before = filtering.learned()
                send(port, "ham", 2501, "ann+ham")
                wait_for(lambda before=before: filtering.learned() == before + 1)
            else:
                with pytest.raises(smtplib.SMTPDataError, match="looks like spam"):
                    send(port, "spam", 2000)
                send(port, "ham", 2001)
                before = filtering.learned()
                send(port, "spam", 2002, "ann+spam")  # labels are not refused
                wait_for(lambda before=before: filtering.learned() == before + 1)
    # Strangers may not label.
    conf.write_text(conf.read_text().replace("hosts = 127.0.0.1 : ::1", "hosts = 192.0.2.1"))
    with (
        running_exim(conf) as port,
        pytest.raises(smtplib.SMTPRecipientsRefused, match="only users of this server"),
    ):
        send(port, "spam", 2003, "ann+ham")
    filtering.kill()
    with running_exim(folder / "exim.conf") as port:
        send(port, "spam", 3000)  # accepted, although the filter does not answer


def test_postfix_with_spamass_milter(tmp_path: Path, filtering: Listener) -> None:
    needed("postfix", "spamass-milter", "spamc")
    folder, port, milter = open_folder(tmp_path / "postfix"), free_port(), free_port()
    for name in ("queue", "data", "mail"):
        open_folder(folder / name)
    shutil.chown(folder / "data", "postfix")
    (folder / "data").chmod(0o755)
    (folder / "queue").chmod(0o755)
    (folder / "main.cf").write_text(
        block("postfix.md", "main.cf").replace("7831", str(milter))
        + f"mynetworks = 127.0.0.1\ncompatibility_level = 3.6\nqueue_directory = {folder}/queue\n"
        f"data_directory = {folder}/data\nmydestination = example\nmaillog_file = {folder}/log\n"
        f"maillog_file_prefixes = {folder}\n"
        f"mail_spool_directory = {folder}/mail\nlocal_recipient_maps =\nalias_maps =\n"
        "alias_database =\ninet_interfaces = 127.0.0.1\nluser_relay = mail@example\n"
    )
    master = Path("/usr/share/postfix/master.cf.dist").read_text()
    master = re.sub(r"^smtp +inet.*$", f"127.0.0.1:{port} inet n - n - - smtpd", master, flags=re.M)
    master = "postlog unix-dgram n - n - 1 postlogd\n" + re.sub(
        r"^(\w\S* +\w+ +\S+ +\S+) +y ", r"\1 n ", master, flags=re.M
    )
    learning = Learning(tmp_path, filtering)
    labels = block("postfix.md", "master.cf").replace("user=streamnb", "user=mail")
    labels = labels.replace("/usr/local/lib/streamnb/learn", str(learning.path))
    (folder / "master.cf").write_text(master + labels)
    command = (
        block("postfix.md", "milter")
        .replace("7831", str(milter))
        .replace("7830", str(filtering.port))
    )
    command = command.replace("-r 15", "-r 9999")
    with (
        running(command.split(), milter),
        running_postfix(folder, port),
    ):
        check_delivery(port, folder / "mail" / "mail")
        raw = mail("spam", 2500).encode()
        learning.check_later(lambda: send(port, "spam", 2500, "ann+spam"), raw)
    main = folder / "main.cf"
    main.write_text(main.read_text().replace("mynetworks = 127.0.0.1", "mynetworks = 192.0.2.1"))
    with (
        running_postfix(folder, port),
        pytest.raises(smtplib.SMTPRecipientsRefused, match="only users of this server"),
    ):
        send(port, "spam", 2003, "ann+ham")


def test_dovecot_learns_moved_mails(tmp_path: Path, filtering: Listener) -> None:
    needed("dovecot", "spamc")
    with tempfile.TemporaryDirectory() as sockets:  # their names may have 107 characters
        open_folder(Path(sockets))
        check_dovecot(tmp_path, filtering, sockets)


def check_dovecot(tmp_path: Path, filtering: Listener, sockets: str) -> None:
    folder, port = open_folder(tmp_path / "dovecot"), free_port()
    learning = Learning(tmp_path, filtering)
    (folder / "learn.sieve").write_text(block("dovecot.md", "learn.sieve"))
    written = block("dovecot.md", "90-streamnb.conf")
    written = written.replace("/usr/lib/dovecot/sieve-pipe", str(learning.folder))
    written = written.replace("/usr/lib/dovecot/sieve", str(folder))
    owner = pwd.getpwnam("mail")  # Dovecot refuses mailboxes of root
    (folder / "dovecot.conf").write_text(
        f"base_dir = {sockets}/run\nstate_dir = {folder}/state\nprotocols = imap\nssl = no\n"
        "disable_plaintext_auth = no\nlog_path = /dev/stderr\nfirst_valid_uid = 1\n"
        "listen = 127.0.0.1\nfirst_valid_gid = 1\n"
        f"mail_location = maildir:{folder}/mails\n"
        f"service imap-login {{\n inet_listener imap {{\n  port = {port}\n }}\n}}\n"
        "passdb {\n driver = static\n args = password=secret\n}\n"
        f"userdb {{\n driver = static\n"
        f" args = uid={owner.pw_uid} gid={owner.pw_gid} home={folder}\n}}\n"
        "namespace inbox {\n inbox = yes\n"
        " mailbox Junk {\n  auto = create\n }\n mailbox Trash {\n  auto = create\n }\n"
        " mailbox Pourriel {\n  auto = create\n  special_use = \\Junk\n }\n"
        " mailbox Gone {\n  auto = create\n  special_use = \\Trash\n }\n}\n" + written
    )
    raw = mail("spam", 5000).encode()
    expected = filtering.learned()
    with running(["dovecot", "-F", "-c", str(folder / "dovecot.conf")], port):
        client = imaplib.IMAP4("127.0.0.1", port, timeout=60)
        client.login("ann", "secret")
        for name in ("Deleted Items", "Papierkorb", "Junk.Archive"):
            client.create(f'"{name}"')
        client.append("INBOX", "", "", raw)

        def move(source: str, target: str) -> None:
            client.select(f'"{source}"')
            assert client.copy("1", f'"{target}"')[0] == "OK"
            client.store("1", "+FLAGS", "\\Deleted")
            client.expunge()

        source = "INBOX"
        for target, label in MOVES:
            move(source, target)
            source = target
            if label:
                expected += 1
                wait_for(lambda: filtering.learned() == expected)  # noqa: B023
                told = filtering.spamd("TELL", raw, Message_class=label, Set="local")[1]
                assert told["Streamnb-Result"] == "learned_before"
            assert filtering.learned() == expected, f"after the move to {target}"
        later = mail("spam", 5001).encode()
        learning.check_later(lambda: client.append("Pourriel", "", "", later), later)
        client.logout()
    assert not learning.waiting()


def test_labels_keep_their_order_and_a_refused_one_stops_no_other(
    tmp_path: Path, filtering: Listener
) -> None:
    needed("spamc")
    learning, raw, before = Learning(tmp_path, filtering), mail("spam", 7000), filtering.learned()
    for arguments in (("spam", "../ann"), ("spam",), ("unsure", "ann"), ("spam", "")):
        assert learning.run(*arguments, raw=b"x") == 64
    filtering.kill()
    big = b"Subject: x\n\n" + b"x" * (17 << 20)
    assert learning.run("spam", "ann", raw=big) == 0
    for label in ("spam", "ham") * 3:
        assert learning.run(label, "ann", raw=raw.encode()) == 0
    assert len(learning.waiting()) == 6  # the client refuses the large one
    filtering.start()
    sending = [subprocess.Popen([str(learning.path)]) for _ in range(4)]
    assert [each.wait(60) for each in sending] == [0] * 4
    assert not learning.waiting()
    assert [each.stat().st_size for each in learning.spool.glob("refused.*")] == [len(big)]
    assert filtering.learned() == before + 6
    told = filtering.spamd("TELL", raw.encode(), Message_class="ham", Set="local")[1]
    assert told["Streamnb-Result"] == "learned_before"


@pytest.mark.parametrize(
    ("program", "title", "command"),
    [
        ("procmail", "procmailrc", ["procmail", "-p", "DEFAULT={}/inbox", "MAILDIR={}", "{}/rc"]),
        ("maildrop", "mailfilter", ["maildrop", "{}/rc"]),
    ],
)
def test_delivery_programs(
    tmp_path: Path, filtering: Listener, program: str, title: str, command: list[str]
) -> None:
    needed(program, "spamc")
    folder = tmp_path / program
    folder.mkdir()
    written = block("deliver-mail.md", title).replace("7830", str(filtering.port))
    if program == "maildrop":
        written = f'DEFAULT="{folder}/inbox"\n' + written.replace('"spam"', f'"{folder}/spam"')
    (folder / "rc").write_text(written)
    (folder / "rc").chmod(0o600)
    for number, label in enumerate(("ham", "spam")):
        filled = [each.format(folder) for each in command]
        subprocess.run(filled, input=mail(label, 6000 + number).encode(), check=True, cwd=folder)
    assert "X-Spam-Status: No" in (folder / "inbox").read_text()
    assert "X-Spam-Status: Yes" in (folder / "spam").read_text()
    raw = mail("spam", 7000).encode()
    learning = Learning(tmp_path, filtering)
    learning.check_later(lambda: learning.run("spam", "ann", raw=raw), raw)
