"""The settings: one table, three places to set them, every mistake named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from streamnb import Tokenizer, __version__
from streamnb_consumers.daemon import settings_text
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.command import run
from streamnb_consumers.daemon.settings import (
    FIELDS,
    FOREIGN,
    PREFIX,
    TABLE_OF,
    TABLES,
    Settings,
    read_settings,
)
from streamnb_consumers.daemon.settings_text import descriptions, parser, to_toml
from streamnb_consumers.daemon.topic_commands import replay_parser
from streamnb_consumers.errors import SettingsError

KAFKA = ["--bootstrap-servers=localhost:9092"]
NAMES = [field.name for field in structs.fields(Settings)]


def read(*flags: str, **environment: str) -> Settings:
    return read_settings(parser("streamnb-sms").parse_args(flags), environment)


def test_each_setting_has_a_description() -> None:
    assert list(descriptions()) == list(FIELDS)
    assert all(descriptions().values())


def test_defaults_pass_their_own_checks() -> None:
    assert read() == Settings()
    for field in structs.fields(Settings):
        assert msgspec.convert(field.default, field.type, strict=False) == field.default, field.name


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'batch = 1\nexplain_top_k = 1\nlabels = ["no", "spam", "ham"]\npoll_seconds = 1\n'
    )
    settings = read(
        "--config", str(path), "--batch", "3", STREAMNB_BATCH="2", STREAMNB_EXPLAIN_TOP_K="2"
    )
    assert (settings.batch, settings.explain_top_k, settings.poll_seconds) == (3, 2, 1.0)
    assert settings.labels == ("no", "spam", "ham")
    assert read(STREAMNB_CONFIG=str(path)).batch == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_flag_and_a_variable(name: str) -> None:
    default = getattr(Settings(), name)
    shown = ",".join(default) if isinstance(default, tuple) else str(default)
    program = "streamnb-sms listen" if TABLE_OF[name] == "listen" else "streamnb-sms"
    flags = parser(program).parse_args([f"--{name.replace('_', '-')}={shown}"])
    assert read_settings(flags, {}) == Settings()
    assert read(**{PREFIX + name.upper(): shown}) == Settings()


@pytest.mark.parametrize(
    ("flags", "place"),
    [
        (["--batch=x"], "--batch: batch"), (["--batch=0"], "from 1 to"),
        (["--max-fpr=2"], "max_fpr must"), (["--pos-label=eggs"], "one of the labels"),
        (["--log-level=LOUD"], "log_level"), (["--log-format=xml"], "log_format"),
        (["--output=x"], "exactly once"), (["--negative=spam"], "same label"),
        (["--config=/no/such/file"], "can't be read"), (["--poll-seconds=nan"], "poll_seconds"),
        (["--messages-topic="], "messages_topic must"), (["--group="], "group must be a name"),
        (["--training-topic=a b"], "1 to 249 letters"),
        (["--join-state-topic=.."], "not only dots"),
        (["--security-protocol=TLS"], "one of PLAINTEXT, SSL"), (["--http-port=x"], "http_port"),
        (["--sasl-mechanism=GSSAPI"], "one of PLAIN, SCRAM"), (["--create-topics=-1"], "create_"),
        ([*KAFKA, "--bootstrap-servers=host"], "host:port, .* not 'host'"),
        ([*KAFKA, "--bootstrap-servers=a:1,b:x"], "not 'b:x'"),
        ([*KAFKA, "--input=x"], "input and bootstrap_servers are both set"),
        ([*KAFKA, "--dead-letters=x"], "dead_letters and bootstrap_servers"),
        ([*KAFKA, "--decisions-topic={kind}"], "decisions_topic and messages_topic are the same"),
        ([*KAFKA, "--tls-ca-file=x"], "encrypts nothing"),
        ([*KAFKA, "--security-protocol=SSL", "--tls-key-file=x"], "without tls_cert_file"),
    ],
)  # fmt: skip
def test_mistakes_are_named(flags: list[str], place: str) -> None:
    with pytest.raises(SettingsError, match=place):
        read(*flags)


def test_misspelled_variables_are_named_and_those_of_others_are_not() -> None:
    with pytest.raises(SettingsError, match="STREAMNB_BOOTSTRAP_SERVERS\\?"):
        read(STREAMNB_BOOTSTRAP_SERVER="localhost:9092")
    with pytest.raises(SettingsError, match="STREAMNB_SASL_PASSWORD\\?"):
        read(STREAMNB_SASL_PASSWORT="x")
    others = dict.fromkeys(("DATA", "REQUIRE_DATA", "SMS_PORT_9464_TCP", "SMS_SERVICE_HOST"), "x")
    assert read(**{PREFIX + name: value for name, value in others.items()}) == Settings()


@pytest.mark.parametrize("text", ["batches = 1", "batch = true", "batch = 1.5", "=", "labels = 3"])
def test_mistakes_in_files_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=str(path)):
        read("--config", str(path))


@pytest.mark.parametrize(
    "model",
    [
        *("XNB", "MNB(alpha=-1)", "MNB(beta=1)", "river:MultinomialNB", "1+"),
        "MNB(tokenizer=Tokenizer(analyzer='sentence'))",
    ],
)
def test_wrong_models_are_named(model: str) -> None:
    with pytest.raises(SettingsError, match="model: "):
        make_filter("sms", Settings(model=model))


def test_models_may_name_a_tokenizer() -> None:
    text = "MNB(tokenizer=Tokenizer(analyzer='char_wb', ngram_range=(2, 5)))"
    model = make_filter("sms", Settings(model=text)).learner.model
    assert model.tokenizer == Tokenizer(analyzer="char_wb", ngram_range=(2, 5))


def test_check_config(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("STREAMNB_BATCH", "7")
    assert run("spam", ["--check-config", "--model", "CNB"]) == 0
    shown = capsys.readouterr().out
    assert "batch = 7" in shown
    assert 'model = "CNB"' in shown
    assert run("spam", ["--check-config", "--model", "XNB"]) == 2
    assert "unknown model" in capsys.readouterr().err


ODD = 'a"b\\c\n\t\x00\x1f\x7f\x85é😀 {kind} # = [x]'


@pytest.mark.parametrize("kind", ["sms", "spam"])
@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(labels=(), model="CNB"),
        Settings(labels=("ham", "spam", ODD), join_window_age=1e9, snapshot_seconds=0.0, batch=7),
        Settings(input="in", output="out", dead_letters=ODD, snapshots=ODD, teacher_prompt=ODD),
        Settings(
            bootstrap_servers="a:1,b:2", security_protocol="SSL", group="a \\ b", instance_id="é"
        ),
    ],
)
def test_what_check_config_prints_is_what_config_reads(
    settings: Settings, kind: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(to_toml(settings, kind), encoding="utf-8")
    found = read("--config", str(path))
    for name, value in structs.asdict(found).items():
        both = [value, getattr(settings, name)]
        found_one, given = [
            each.replace("{kind}", kind) if isinstance(each, str) else each for each in both
        ]
        assert found_one == given, name
    assert run(kind, ["--check-config", "--config", str(path)]) == 0
    printed = capsys.readouterr().out
    again = tmp_path / "again.toml"
    again.write_text(printed, encoding="utf-8")
    assert read("--config", str(again)) == found
    assert run(kind, ["--check-config", "--config", str(again)]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("command", ["streamnb-sms", "streamnb-spam", "streamnb-dead-letters"])
def test_every_command_tells_its_version(command: str, capsys: Any) -> None:
    made = replay_parser() if command.endswith("letters") else parser(command)
    with pytest.raises(SystemExit) as ended:
        made.parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{command} {__version__}\n"


@pytest.mark.parametrize(
    ("program", "flag", "value", "other"),
    [
        ("streamnb-spam listen", "--http-port", "9000", "streamnb-spam"),
        ("streamnb-sms listen", "--input", "x.jsonl", "streamnb-sms"),
        ("streamnb-sms", "--port", "7830", "streamnb-sms listen"),
        ("streamnb-spam", "--journal-bytes", "1000000", "streamnb-spam listen"),
    ],
)
def test_a_flag_of_another_program_is_an_error(
    program: str, flag: str, value: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser(program).parse_args([flag, value])
    assert ended.value.code == 2
    assert f"{flag} does not apply to `{program}`, only to `{other}`" in capsys.readouterr().err
    assert f"{flag} " not in parser(program).format_help()
    assert f"{flag} " in parser(other).format_help()


@pytest.mark.parametrize("name", [name for name in TABLES["kafka"] if name in FIELDS][1:])
def test_a_setting_of_topics_without_topics_is_an_error(name: str) -> None:
    other = {
        float: 1.5, int: 7, bool: True, str: "X"
    }[type(FIELDS[name].default)]  # fmt: skip
    chosen = getattr(FIELDS[name].type, "__args__", ())
    value = next((each for each in chosen if each != FIELDS[name].default), other)
    with pytest.raises(SettingsError, match=f"{name} is set without bootstrap_servers: it applies"):
        Settings(**{name: value})


def test_tables_have_each_setting_once() -> None:
    assert [name for names in TABLES.values() for name in names] == list(FIELDS)
    assert all(name.startswith("teacher_") for name in TABLES["teacher"])
    assert {name for name in FIELDS if name.endswith("_topic")} <= set(TABLES["kafka"])


def in_file(tmp_path: Path, text: str, program: str = "streamnb-sms") -> Settings:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return read_settings(parser(program).parse_args(["--config", str(path)]), {})


def test_a_file_has_tables(tmp_path: Path) -> None:
    text = """
        [filter]
        explain_top_k = 3
        [teacher]
        budget = 0.1
        teacher_url = "http://x"
        model = "m"
        [listen]
        port = 9
    """
    found = in_file(tmp_path, text)
    assert (found.explain_top_k, found.teacher_budget, found.port) == (3, 0.1, 9)
    assert (found.teacher_url, found.teacher_model) == ("http://x", "m")


@pytest.mark.parametrize(
    ("program", "text", "place"),
    [
        (
            "streamnb-sms",
            "[listen]\nbatch = 3",
            r"batch is in the table \[listen\]; .* to \[loop\]",
        ),
        ("streamnb-sms", "[teacher]\nbatch = 3", r"batch is in the table \[teacher\]"),
        ("streamnb-sms", "port = 9", r"port does not apply .* the table \[listen\]"),
        ("streamnb-sms listen", "http_port = 9", r"http_port does not apply .* \[health\]"),
        ("streamnb-sms", "[filter]\nbatches = 3", "there is no setting 'batches'"),
        ("streamnb-sms", "[other]\nbatch = 3", "there is no setting 'other'"),
    ],
)
def test_a_setting_in_the_wrong_place_of_a_file_is_an_error(
    tmp_path: Path, program: str, text: str, place: str
) -> None:
    with pytest.raises(SettingsError, match=place):
        in_file(tmp_path, text, program)


@pytest.mark.parametrize("program", ["streamnb-sms", "streamnb-spam", "streamnb-sms listen"])
def test_help_has_the_tables_of_the_program(program: str) -> None:
    text = parser(program).format_help()
    foreign = FOREIGN["listen" if program.endswith("listen") else ""]
    assert [table for table in TABLES if f"settings [{table}]:" in text] == [
        table for table in TABLES if table not in foreign
    ]
    for name in FIELDS:
        shown = f"  --{name.replace('_', '-')} {name.upper()}" in text
        assert shown == (TABLE_OF[name] not in foreign), name


def test_a_new_setting_touches_one_source_file(tmp_path: Path) -> None:
    package = Path(settings_text.__file__).parents[1]
    shutil.copytree(package, tmp_path / package.name)
    path = tmp_path / package.name / "daemon" / "settings.py"
    text = path.read_text(encoding="utf-8")
    for old, new in (
        ("    past_label_days\n", "    new_one\n        a setting that is new\n"),
        ("    past_label_days: ", "    new_one: Annotated[int, Meta(ge=1, le=9)] = 3\n"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new + old)
    path.write_text(text, encoding="utf-8")
    file = tmp_path / "settings.toml"
    file.write_text("[filter]\nnew_one = 4\n")

    def run_sms(*flags: str, **more: str) -> subprocess.CompletedProcess[str]:
        program = "import sys; from streamnb_consumers.daemon.command import run_sms as run; "
        command = [sys.executable, "-c", f"{program}sys.exit(run(sys.argv[1:]))", *flags]
        return subprocess.run(
            command,
            cwd=tmp_path,  # where Python finds the copy
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            timeout=120,
        )

    helped = run_sms("--help").stdout
    assert "a setting that is new (default: 3)" in " ".join(helped.split())
    for flags, variable, value in (
        ((), {}, 3),
        (("--config", str(file)), {}, 4),
        (("--config", str(file)), {"STREAMNB_NEW_ONE": "5"}, 5),
        (("--new-one", "6"), {"STREAMNB_NEW_ONE": "5"}, 6),
    ):
        shown = run_sms("--check-config", *flags, **variable).stdout
        assert f"new_one = {value}\npast_label_days" in shown
    wrong = run_sms("--new-one", "10")
    assert (wrong.returncode, "a whole number from 1 to 9" in wrong.stderr) == (2, True)
