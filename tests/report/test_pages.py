"""Pages in a real browser."""

import re
import shutil

import pytest
from page_records import ATTACK, search_record, training_record

from lga.report.search import MOST_EVALUATIONS, search_page, shown_evaluations
from lga.report.training import training_page

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: no browser is driven.")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed: pages are not looked at.")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files of a search and of a training run."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "search.html").write_text(search_page(search_record(200)))
    (folder / "training.html").write_text(training_page(training_record()))
    return folder


@pytest.fixture
def open_page(browser, pages):
    """A function from a name to a page that is open; what the browser complains of, or tries to load, is an error."""
    complaints, contexts = [], []

    def opened(name: str, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if "html" not in request.url else None)
        page.goto((pages / f"{name}.html").as_uri())
        return page

    opened.complaints = complaints
    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", ["search", "training"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_that_shuts_people_out(open_page, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # The page's own policy lets no foreign script in, be it that of axe.
    page = open_page(name, color_scheme=scheme, bypass_csp=True)
    assert axe.Axe().run(page).response["violations"] == []


@pytest.mark.parametrize("name", ["search", "training"])
@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_is_never_wider_than_its_window(open_page, name, width):
    page = open_page(name, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["search", "training"])
def test_markup_in_texts_of_users_stays_text(open_page, name):
    page = open_page(name)
    assert page.locator("img").count() == 0
    assert page.title() != "owned"
    assert ATTACK in page.locator("h1").inner_text()


def test_no_script_but_the_pages_own_runs(open_page):
    page = open_page("search")
    ran = page.evaluate(
        """() => { const script = document.createElement('script'); script.textContent = 'window.ran = true';
        document.body.append(script); return window.ran === true; }"""
    )
    assert not ran
    assert "Content Security Policy" in open_page.complaints.pop()


def test_hovering_tells_the_values_there(open_page):
    page = open_page("search")
    chart = page.locator("#convergence")
    box = chart.locator("svg").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    told = chart.locator("output").inner_text()
    assert re.match(r"evaluation \d+: best so far [\d.e\u2212]+, each evaluation", told)
    assert chart.locator(".pointer circle").count() >= 1


def test_arrow_keys_walk_along_a_chart(open_page):
    page = open_page("search")
    page.locator("#convergence .cursor").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator("#convergence output").inner_text().startswith("evaluation 4:")
    assert "evaluation 4:" in page.locator("#convergence .cursor").get_attribute("aria-valuetext")


def test_an_evaluation_looked_at_is_marked_in_all_pictures(open_page):
    page, record = open_page("search"), search_record(200)
    page.locator("#rank").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#looked-at").inner_text().startswith("Rank 2, evaluation ")
    assert page.locator("#parallel .looked-at").count() == 1
    assert page.locator(".slice .looked-at").count() == len(record.names)


def test_things_are_called_by_their_names(open_page):
    page = open_page("search")
    assert page.locator(".slice").last.locator("text.below").all_text_contents() == ["steel", ATTACK, "brass"]
    page.locator("#rank").focus()
    page.keyboard.press("ArrowRight")
    told = page.locator("#looked-at").inner_text()
    assert re.search(r"x2 (steel|brass|<)", told)
    assert told.split("x2 ")[1].split(", value")[0] in page.locator("tbody").nth(1).locator("tr").nth(1).inner_text()


def test_the_verdict_of_the_test_is_told(open_page):
    page = open_page("training")
    assert page.get_by_role("heading", name="The test").is_visible()
    assert page.locator("strong").inner_text() == f"No gain {ATTACK}."


def test_only_the_best_are_shown_on_request(open_page):
    page = open_page("search")
    page.locator("#shown").focus()
    page.keyboard.press("Home")
    assert page.locator("#parallel .thread.g0").is_visible()
    assert not page.locator("#parallel .thread.g9").is_visible()
    assert page.locator("#parallel .thread.best").is_visible()


def test_tables_are_sorted_by_number_and_filtered_by_text(open_page):
    page = open_page("training")
    heading = page.get_by_role("button", name="this run")

    def functions():
        rows = page.locator("tbody").last.locator("tr")
        return [row.locator("td").first.inner_text() for row in rows.all() if row.is_visible()]

    heading.click()
    assert functions() == ["sphere", "schwefel", "mean", "rastrigin"]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("this run")
    heading.press("Enter")
    assert functions() == ["rastrigin", "mean", "schwefel", "sphere"]
    page.get_by_label("Filter").fill("RAS")
    assert functions() == ["rastrigin"]


def test_five_thousand_evaluations_take_less_than_two_megabytes():
    assert len(search_page(search_record(5000, num_dims=10)).encode()) < 2_000_000
    assert len(search_page(search_record(20_000, num_dims=40)).encode()) < 2_000_000


def test_thinning_keeps_the_best():
    record = search_record(3 * MOST_EVALUATIONS)
    shown = shown_evaluations(record)
    assert len(shown) == MOST_EVALUATIONS
    assert set(record.value.argsort()[: MOST_EVALUATIONS // 10]) <= set(shown.tolist())


@pytest.mark.parametrize("maximize", [False, True])
def test_the_best_is_the_first_row_of_the_table(maximize):
    record = search_record(100, maximize=maximize)
    text = search_page(record)
    first = text.split("<tbody>")[2].split("</tr>")[0]
    assert f'data-value="{record.best_value!r}"' in first


def test_a_search_without_success_has_a_page():
    record = search_record(10)
    nothing = {"value": record.value * float("nan"), "best": None, "best_value": float("nan")}
    assert "No evaluation succeeded" in search_page(type(record)(**{**record.__dict__, **nothing}))
