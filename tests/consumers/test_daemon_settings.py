"""The settings: one table, three places to set them, every mistake named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from streamnb import Tokenizer, __version__
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.command import run
from streamnb_consumers.daemon.settings import FIELDS, LISTEN_ONLY, PREFIX, Settings, read_settings
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
    program = "streamnb-sms listen" if name in LISTEN_ONLY else "streamnb-sms"
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
        Settings(input="in", output="out", dead_letters=ODD, snapshots=ODD, instance_id="é"),
        Settings(bootstrap_servers="a:1,b:2", security_protocol="SSL", group="a \\ b"),
    ],
)
def test_what_check_config_prints_is_what_config_reads(
    settings: Settings, kind: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(to_toml(settings, kind), encoding="utf-8")
    found = read("--config", str(path))
    for name, value in structs.asdict(found).items():
        given = getattr(settings, name)
        assert value == (given.replace("{kind}", kind) if isinstance(given, str) else given), name
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


@pytest.mark.parametrize(("name", "value"), [("linger-seconds", "2"), ("questions-topic", "x")])
def test_a_setting_of_topics_without_topics_is_an_error(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="without bootstrap_servers: it applies to topics only"):
        read_settings(parser("streamnb-sms").parse_args([f"--{name}", value]), {})
