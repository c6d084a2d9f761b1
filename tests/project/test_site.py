"""The site in a browser: it is whole without a network, and examples are copied as code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


def test_no_page_loads_from_another_host(browser: Browser, site: Path) -> None:
    asked: list[str] = []
    with browser.new_page() as page:
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", "how-to/unsure.html", "404.html"):
            page.goto((site / name).as_uri())
        page.goto((site / "index.html").as_uri())
        page.locator("[data-md-component=search-query]").first.fill("unlearn")
        expect(page.locator(".md-search-result__item").first).to_be_attached(timeout=30_000)
    assert asked
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def test_examples_are_copied_without_prompts_and_results(browser: Browser, site: Path) -> None:
    with browser.new_page() as page:
        page.goto((site / "index.html").as_uri())
        code = page.locator(".highlight code").first
        expect(code).to_contain_text(">>> from streamnb import OnlineNB")
        copied = code.evaluate(
            "one => { one.setAttribute('data-md-copying', ''); return one.innerText }"
        )
    assert copied.startswith("from streamnb import OnlineNB\nmodel = OnlineNB()\nfor text, label")
    assert ">>>" not in copied
    assert "'spam'" not in copied.splitlines()[-1]
    compile(copied, "the copied example", "exec")
