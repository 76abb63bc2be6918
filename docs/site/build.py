"""Builds the site of the docs: pages, the reference of what is registered, the reference of the headers.

    build.py PROGRAM FOLDER [--unmeasured]

FOLDER/site/index.html opens from disk and searches without a network. The build fails on a warning of mkdocs or
Doxygen and on a link that leads nowhere; exit code 77 where one of them is not installed. --unmeasured leaves out the
surveys and the kill matrix, which take a minute.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reference
import registry
import stage

ROOM = pathlib.Path(__file__).parent
#: START has the pages at the top level of the menu, outside its groups; HEADERS has the folders whose headers Doxygen
#: reads.
START = ["index.md", "contents.md", "python.md", "ci.md", "tutorial.md", "which-verifier.md"]
HEADERS = ["sim", "verifiers", "optimum", "captures", "properties", "adapters", "cli/report", "gpu"]


def write_reference(found, pages, headers):
    """Writes a page for each registered entry, and returns the menu of these pages. `headers` is the result of
    header_pages."""
    menu = []
    for folder, title in reference.TITLES.items():
        entries = [entry for (of, _), entry in sorted(found.items()) if of == folder]
        for entry in entries:
            path = pages / entry.page
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(reference.page(entry, found, headers))
        (pages / f"reference/{folder}/index.md").write_text(reference.index(folder, entries))
        menu.append({title: f"reference/{folder}/index.md"})
    return menu


def doxygen(folder):
    """Writes the reference of the headers to FOLDER/api. Warnings are errors."""
    shutil.rmtree(folder / "api", ignore_errors=True)
    rooms = " ".join(str(registry.ROOT / room) for room in HEADERS)
    settings = (ROOM / "Doxyfile").read_text() + (
        f"\nINPUT = {rooms}\nOUTPUT_DIRECTORY = {folder}\nHTML_OUTPUT = api\nSTRIP_FROM_PATH = {registry.ROOT}\n")
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, stdout=subprocess.DEVNULL)


def header_pages(api):
    """Returns {header: page} for the pages that Doxygen has written."""
    found = {}
    for page in api.glob("*_8*.html"):
        title = re.search(r"<title>draftproof: (\S+) File Reference</title>", page.read_text(errors="replace"))
        if title:
            found[title[1]] = page.name
    return found


def mkdocs(folder, staged, menu):
    """Builds the site in FOLDER/site. Warnings are errors."""
    in_menu = set(START) | {"contributing.md", "changelog.md", "data.md", "golden.md"}
    groups = {"Guides": [], "Findings": [], "Studies": [], "Design": []}
    for place, _ in staged:
        if place not in in_menu:
            groups[{"findings": "Findings", "studies": "Studies", "design": "Design"}.get(place.split("/")[0], "Guides")
                   ].append(place)
    linked = re.findall(r"\]\(([\w/-]+\.md)", (registry.ROOT / "docs/contents.md").read_text())  # the reading order
    read = [stage.place_of(f"docs/{path}") for path in linked]
    for places in groups.values():
        places.sort(key=lambda place: read.index(place) if place in read else len(read))
    settings = {
        "site_name": "draftproof", "docs_dir": str(folder / "pages"), "site_dir": str(folder / "site"),
        "use_directory_urls": False, "edit_uri": "", "extra": {"homepage": "index.html"},
        "theme": {"name": "material", "font": False, "custom_dir": str(ROOM / "overrides"),
                  "features": ["navigation.tabs"],
                  "palette": [{"media": f"(prefers-color-scheme: {scheme})", "scheme": palette, "primary": "indigo",
                               "toggle": {"icon": icon, "name": f"{other} page"}}
                              for scheme, palette, icon, other in (
                                  ("light", "default", "material/weather-night", "dark"),
                                  ("dark", "slate", "material/weather-sunny", "light"))]},
        "extra_css": ["site.css"], "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "pymdownx.highlight", "pymdownx.superfences"],
        "nav": [{"Start": START}, *({name: places} for name, places in groups.items()), {"Reference": menu},
                {"Headers": "headers.md"},
                {"House": ["contributing.md", "changelog.md", "data.md", "golden.md"]}],
    }
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1))
    subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--clean", "-f", folder / "mkdocs.yml"], check=True)
    rank(folder / "site")


def rank(site):
    """Makes searches show guides before pages of single mutants. Writes the search index as a script, because browsers
    do not let a page opened from a file fetch another file. Changes the search script so that it passes the boost of a
    page to lunr, because the theme of Debian 12 does not pass it."""
    index = json.loads((site / "search/search_index.json").read_text())
    for page in index["docs"]:
        if page["location"].startswith("reference/"):
            # The boost is far below 1, because the search counts a word in a title a thousand times as much as a word
            # in the text.
            page["boost"] = 0.0005 if "mutants/" in page["location"] else 0.5
    text = json.dumps(index)
    (site / "search/search_index.json").write_text(text)
    (site / "search/search_index.js").write_text(f"var __search = {{index: Promise.resolve({text})}};\n")
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.min.js")
    code = re.sub(r"(of \w+\)this\.add\((\w+))\)", r"\1,{boost:\2.boost})", worker.read_text())
    if ".boost})" not in code:
        raise SystemExit(f"{worker}: got no call that adds a page to the index, expected one")
    worker.write_text(code)


class Links(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.anchors.add(value)
            if key in ("href", "src") and value:
                self.links.append(value)


def broken(site):
    """Returns the links of a site that lead nowhere, as texts. Links to Doxygen's pages are checked, but not the links
    on those pages."""
    parsed, wrong = {}, []

    def read(path):
        if path not in parsed:
            parsed[path] = Links(path.read_text(errors="replace"))
        return parsed[path]

    for page in sorted(site.rglob("*.html")):
        if page.is_relative_to(site / "api") or page.name == "404.html":
            continue
        for link in read(page).links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file():
                wrong.append(f"{page.relative_to(site)}: got a link to {link}, expected a file there")
            elif parts.fragment and target.suffix == ".html" and parts.fragment not in read(target).anchors:
                wrong.append(f"{page.relative_to(site)}: got a link to {link}, expected an anchor of that name")
    return wrong


def unrendered(site):
    """Returns, as texts, the blocks of code that pages show as prose because mkdocs did not recognise their fence."""
    wrong = []
    for page in sorted(site.rglob("*.html")):
        if not page.is_relative_to(site / "api"):
            for match in re.finditer(r"<p>[^<]*```|<p><code>[a-z]+(?: [a-z]+)?\n", page.read_text(errors="replace")):
                wrong.append(f"{page.relative_to(site)}: got a fence as prose, expected a block: {match[0]!r}")
    return wrong


def main():
    missing = [name for name in ("mkdocs", "doxygen") if not shutil.which(name)]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed (./dev docs installs them)")
        return 77
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    found = registry.entries(program)
    if "--unmeasured" not in sys.argv:
        registry.measure(program, found)
    staged = stage.stage(found, pages)
    doxygen(folder)
    menu = write_reference(found, pages, header_pages(folder / "api"))
    (pages / "headers.md").write_text((ROOM / "headers.md").read_text())
    mkdocs(folder, staged, menu)
    shutil.copytree(folder / "api", folder / "site" / "api")
    wrong = broken(folder / "site") + unrendered(folder / "site")
    print("\n".join(wrong))
    print(f"{len(found)} entries, {len(staged)} pages, {len(wrong)} broken links and blocks: {folder / 'site' / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
