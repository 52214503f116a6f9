#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Every link and anchor of the site leads somewhere on it, nothing is loaded from elsewhere, and a browser shows every page on a screen of 390
pixels without scrolling sideways, errors on its console or formulas that it cannot set. Usage: check_pages.py HTML [--links]
--links: without the browser."""
import functools
import html.parser
import http.server
import pathlib
import sys
import threading
import urllib.parse

ELSEWHERE = ("http:", "https:", "mailto:")
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
WIDTH = """
const shown = element => { for (; element; element = element.parentElement) if (getComputedStyle(element).overflowX != 'visible') return false; return true; };
const wide = [...document.querySelectorAll('article *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && shown(e));
return [document.documentElement.scrollWidth, innerWidth, wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(' '),
        document.querySelectorAll('.merror, .MathJax_Error, .system-message').length];
"""
SET = "return !window.MathJax || (MathJax.Hub && MathJax.Hub.queue.pending == 0 && !document.querySelector('.MathJax_Preview:not(:empty)'));"


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        self.anchors.update(said[key] for key in ("id", "name") if said.get(key))
        if tag == "a":
            self.links += [said[key] for key in ("href", "xlink:href") if said.get(key)]
        if said.get(LOADED.get(tag)) and (tag != "link" or said.get("rel") in ("stylesheet", "icon")):
            self.loads.append(said[LOADED[tag]])


def broken(root):
    """What is wrong with the links, a line each."""
    pages = {path.resolve(): Page(path) for path in root.rglob("*.html") if "_static" not in path.parts}
    if len(pages) < 20:
        yield f"{len(pages)} pages under {root}, expected a site"
    for path, page in pages.items():
        here = path.relative_to(root)
        yield from (f"{here}: loads {load}" for load in page.loads if load.startswith((*ELSEWHERE, "//")))
        for link in page.links + [load for load in page.loads if not load.startswith((*ELSEWHERE, "//", "data:"))]:
            if link.startswith((*ELSEWHERE, "data:")):
                continue
            target, anchor = urllib.parse.urldefrag(link)
            found = (path.parent / urllib.parse.unquote(target.split("?")[0])).resolve() if target else path
            if not found.is_file():
                yield f"{here}: {link}, no such file"
            elif found in pages and urllib.parse.unquote(anchor) not in pages[found].anchors:
                yield f"{here}: {link}, no such anchor"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *said):
        pass


def opened():
    """Chromium of 390 x 844 without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "hide-scrollbars"):
        options.add_argument("--" + argument)
    options.add_experimental_option("mobileEmulation", {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 1}})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def ill_shown(root):
    """What a browser finds wrong, a line each."""
    from selenium.webdriver.support.ui import WebDriverWait
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = opened()
    try:
        for path in sorted(root.rglob("*.html")):
            here = path.relative_to(root)
            if "_static" in here.parts:
                continue
            browser.get(f"http://127.0.0.1:{server.server_port}/{here.as_posix()}")
            WebDriverWait(browser, 60).until(lambda shown: shown.execute_script(SET))
            width, screen, which, errors = browser.execute_script(WIDTH)
            if width > screen:
                yield f"{here}: {width} pixels wide, expected at most {screen}: {which}"
            if errors:
                yield f"{here}: {errors} formulas or directives that are errors"
            for entry in browser.get_log("browser"):
                if entry["level"] in ("SEVERE", "WARNING"):
                    yield f"{here}: {entry['message']}"
    finally:
        browser.quit()
        server.shutdown()


def main(root, *options):
    root, wrong = pathlib.Path(root).resolve(), 0
    for judge in (broken,) if "--links" in options else (broken, ill_shown):
        for line in judge(root):
            print(line)
            wrong += 1
    print(f"{wrong} faults")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
