"""The page of the matrix in a real browser; ``make matrix-page-test`` runs it.

The browser is the machine's Chromium (``apt-get install chromium``), or the program
that ``CHROMIUM`` names. Without one this fails: it is no reason to skip.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix.views import page as pages

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
LATEST = Path(__file__).parent / "results" / "latest.json"
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 380, "height": 800}


@pytest.fixture(scope="session")
def data() -> results.Json:
    return results.load(Path(os.environ.get("MATRIX_RESULT", LATEST)))


@pytest.fixture(scope="session")
def address(data: results.Json, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "matrix.html"
    file.write_text(pages.rendered(data), "utf-8")
    return file.as_uri()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    own = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    program = next(filter(None, own), None)
    if program is None:
        pytest.fail("no Chromium: apt-get install chromium, or set CHROMIUM")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(params=[("light", WIDE), ("dark", WIDE), ("dark", NARROW)])
def page(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    scheme, size = request.param
    context = browser.new_context(color_scheme=scheme, viewport=size)
    opened, said, asked = context.new_page(), [], []
    opened.on("console", lambda line: said.append(line.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(address)
    yield opened
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def choose(page: Page, **values: str) -> None:
    for name, value in values.items():
        field = page.locator(f"#filters [name={name}]")
        if name == "scenario":
            field.fill(value)
        else:
            field.select_option(value)


def test_every_pair_has_a_cell(page: Page, data: results.Json) -> None:
    expect(page.locator("td button")).to_have_count(len(data["pairs"]))


def test_filters_leave_what_is_asked_for(page: Page, data: results.Json) -> None:
    choose(page, group="sdk", transport="http")
    pairs = [
        pair
        for pair in data["pairs"]
        if pair["transport"] == "http"
        and data["clients"][pair["client"]]["group"] == "sdk"
    ]
    expect(page.locator("td button")).to_have_count(len(pairs))
    choose(page, view="server", server="mcp-2.3-modern|http", verdict="fail")
    failed = sum(
        cell["verdict"] == "fail" and "gap" not in cell
        for pair in pairs
        if pair["server"] == "mcp-2.3-modern"
        for cell in pair["cells"].values()
    )
    assert failed > 0
    expect(page.locator("td button")).to_have_count(failed)
    choose(page, scenario="nothing like that")
    expect(page.locator("#grid")).to_have_text("Nothing matches the filters.")


def test_a_cell_opens_with_its_diagram(page: Page) -> None:
    choose(page, view="server", server="mcp-2.3-modern|http")
    page.locator('[data-cell="client-2.3|mcp-2.3-modern|http|form"]').click()
    dialog = page.locator("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator(".diagram")).to_be_visible()
    # Both sides of the layer: the application's and the wire's.
    expect(dialog.locator(".lane-0 .arrow", has_text="asked")).not_to_have_count(0)
    call = dialog.locator(".lane-1 .arrow.out", has_text="tools/call").first
    call.locator("summary").click()
    expect(call.locator("pre")).to_contain_text('"method": "tools/call"')
    expect(call.locator("pre")).to_contain_text("mcp-method: tools/call")
    expect(dialog.locator(".lane-1 .arrow.in").first).to_contain_text("input required")
    page.locator("#close").click()
    expect(dialog).to_be_hidden()


def test_a_stack_without_a_layer_has_one_side(page: Page) -> None:
    choose(page, view="client", client="sdk-1.30")
    page.locator('[data-cell="sdk-1.30|mcp-1.30|stdio|form"]').click()
    expect(page.locator(".diagram.one .arrow")).not_to_have_count(0)


def test_a_cell_that_never_connected_shows_how_it_was_tried(page: Page) -> None:
    choose(page, view="server", server="mcp-2.3-modern|stdio")
    page.locator('[data-cell="sdk-1.30|mcp-2.3-modern|stdio|form"]').click()
    expect(page.locator("dialog")).to_contain_text("There was no connection")
    expect(page.locator(".diagram .arrow", has_text="initialize")).not_to_have_count(0)


def test_everything_can_be_done_with_the_keyboard(page: Page) -> None:
    first = page.locator("td button").first
    for _ in range(20):
        page.keyboard.press("Tab")
        if first.evaluate("each => each === document.activeElement"):
            break
    expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(first).not_to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    assert page.locator("#filters [name=view]").input_value() == "server"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".diagram .arrow").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement.dataset.cell") is not None


def test_an_address_leads_to_its_cell(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#client-1.30|mcp-1.30|stdio|url")
    page.reload()
    expect(page.locator("#cell-title")).to_contain_text("url: ")


def test_the_page_is_legible_at_this_width_and_in_these_colours(page: Page) -> None:
    wide = "document.documentElement.scrollWidth <= window.innerWidth"
    assert page.evaluate(wide)
    choose(page, view="server", server="mcp-2.3-modern|http")
    page.locator('[data-cell="client-2.3|mcp-2.3-modern|http|form"]').click()
    expect(page.locator(".diagram .arrow").first).to_be_visible()
    assert page.evaluate(wide)
    overflowing = "each => each.scrollWidth > each.clientWidth + 1"
    assert not page.locator("dialog").evaluate(overflowing)
    contrasts = page.evaluate(CONTRASTS)
    assert min(contrasts) >= 4.5, contrasts


CONTRASTS = """() => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255);
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = parts.map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const names = 'p, th, td button, .badge, summary, .tag, #legend span';
  return [...document.querySelectorAll(names)].map((element) => {
    const [a, b] = [light(getComputedStyle(element).color), light(back(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""
