"""Opens the site of the docs from disk in a headless Chromium and searches it.

    search_in_browser.py SITE      exit code 77 and a reason without a browser or a site

The search must find the page of a verifier without a network request.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "report"))
import browser

TYPE = """(() => {
  document.querySelector('#__search').click();
  const field = document.querySelector('[data-md-component=search-query]');
  field.focus();
  field.value = 'kseq_rho_one';
  for (const name of ['focus', 'keyup', 'input']) field.dispatchEvent(new Event(name, {bubbles: true}));
})()"""
FOUND = "[...document.querySelectorAll('.md-search-result__link')].map(one => one.href)"


def main():
    site = pathlib.Path(sys.argv[1])
    if not browser.find() or not (site / "index.html").exists():
        print("skipped: no browser" if not browser.find() else f"skipped: no site at {site}")
        return 77
    tab = browser.Browser(browser.find())
    try:
        tab.open((site / "index.html").as_uri(), 1200)
        tab.run(TYPE)
        end, found = time.monotonic() + 60, []
        while not found and time.monotonic() < end:
            time.sleep(0.1)
            found = tab.run(FOUND)
        asked = [url for url in tab.requests if not url.startswith(("file:", "data:"))]
        wrong = [f"got a request to {url}, expected none" for url in asked]
        wrong += [f"the page says {error}" for error in tab.errors]
        if not any("reference/mutants/kseq_rho_one.html" in link for link in found):
            wrong.append(f"got {found[:5]}, expected the mutant's page")
    finally:
        tab.close()
    print("\n".join(wrong) or f"{len(found)} results")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
