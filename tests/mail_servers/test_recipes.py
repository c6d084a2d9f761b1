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
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.filters import text
from support.listener import Listener, listening

pytestmark = pytest.mark.mail_servers
PAGES = Path(__file__).parents[2] / "docs" / "how-to"


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
def filtering(tmp_path: Path) -> Iterator[Listener]:
    with listening(tmp_path / "state") as listener:
        for number in range(60):
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


def open_folder(path: Path) -> Path:
    """Return a new folder that every user may write to."""
    path.mkdir(exist_ok=True)
    for each in (path, *list(path.parents)[:3]):
        if each != Path("/tmp"):
            each.chmod(0o777)
    return path


def send(port: int, label: str, number: int) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
        client.sendmail(f"{label}@y.example", ["ann@example"], mail(label, number))


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
    written = written.replace("/var/mail", str(folder)).replace("7830", str(filtering.port))
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
            else:
                with pytest.raises(smtplib.SMTPDataError, match="looks like spam"):
                    send(port, "spam", 2000)
                send(port, "ham", 2001)
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
        + f"compatibility_level = 3.6\nqueue_directory = {folder}/queue\n"
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
    (folder / "master.cf").write_text(master)
    command = (
        block("postfix.md", "milter")
        .replace("7831", str(milter))
        .replace("7830", str(filtering.port))
    )
    command = command.replace("-r 15", "-r 9999")
    with (
        running(command.split(), milter),
        running(["postfix", "-c", str(folder), "start-fg"], port),
    ):
        check_delivery(port, folder / "mail" / "mail")


def test_dovecot_learns_moved_mails(tmp_path: Path, filtering: Listener) -> None:
    needed("dovecot", "spamc")
    folder, port = open_folder(tmp_path / "dovecot"), free_port()
    pipes = open_folder(folder / "sieve-pipe")
    spool = open_folder(folder / "spool")
    learn = block("dovecot.md", "learn").replace("7830", str(filtering.port))
    learn = learn.replace("/var/spool/streamnb", str(spool))
    (pipes / "learn").write_text(learn)
    (pipes / "learn").chmod(0o755)
    written = block("dovecot.md", "90-streamnb.conf")
    for name in ("learn-spam.sieve", "learn-ham.sieve"):
        (folder / name).write_text(block("dovecot.md", name))
    written = written.replace("/usr/lib/dovecot/sieve-pipe", str(pipes))
    written = written.replace("/usr/lib/dovecot/sieve", str(folder))
    owner = pwd.getpwnam("mail")  # Dovecot refuses mailboxes of root
    (folder / "dovecot.conf").write_text(
        f"base_dir = {folder}/run\nstate_dir = {folder}/state\nprotocols = imap\nssl = no\n"
        "disable_plaintext_auth = no\nlog_path = /dev/stderr\nfirst_valid_uid = 1\n"
        "listen = 127.0.0.1\nfirst_valid_gid = 1\n"
        f"mail_location = maildir:{folder}/mails\n"
        f"service imap-login {{\n inet_listener imap {{\n  port = {port}\n }}\n}}\n"
        "passdb {\n driver = static\n args = password=secret\n}\n"
        f"userdb {{\n driver = static\n"
        f" args = uid={owner.pw_uid} gid={owner.pw_gid} home={folder}\n}}\n"
        "namespace inbox {\n inbox = yes\n mailbox Junk {\n  auto = create\n }\n"
        " mailbox Trash {\n  auto = create\n }\n}\n" + written
    )
    raw = mail("spam", 5000).encode()

    def learned(count: int) -> None:
        wait_for(lambda: filtering.learned() == count)

    before = filtering.learned()
    with running(["dovecot", "-F", "-c", str(folder / "dovecot.conf")], port):
        client = imaplib.IMAP4("127.0.0.1", port, timeout=60)
        client.login("ann", "secret")
        client.append("INBOX", "", "", raw)

        def move(source: str, target: str) -> None:
            client.select(source)
            assert client.copy("1", target)[0] == "OK"
            client.store("1", "+FLAGS", "\\Deleted")
            client.expunge()

        move("INBOX", "Junk")
        learned(before + 1)
        told = filtering.spamd("TELL", raw, Message_class="spam", Set="local")[1]
        assert "DidSet" not in told
        move("Junk", "INBOX")
        learned(before + 2)
        move("INBOX", "Junk")
        learned(before + 3)
        move("Junk", "Trash")
        move("Trash", "INBOX")
        for name in ("Deleted Items", "Papierkorb", "Junk.Archive"):
            client.create(f'"{name}"')
            move("INBOX", "Junk")
            move("Junk", f'"{name}"')
            move(f'"{name}"', "INBOX")
        client.logout()
    assert filtering.learned() == before + 3
    assert not list(spool.iterdir())


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
