"""Makes pages of the site from the pages of the repository: changes links to pages of the site, links names of the
registry with their pages, and makes pages that show the files to which pages link."""
import os
import pathlib
import re
import shutil
import sys

from registry import ROOT

sys.path.insert(0, str(ROOT / "tests" / "docs"))
import markdown as reader

#: Pages outside docs/, with their paths in the site.
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
         "data/README.md": "data.md", "tests/golden/README.md": "golden.md"}
LANGUAGES = {".py": "python", ".json": "json", ".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".cmake": "cmake"}


def place_of(path):
    """Returns the path in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        path = path.removeprefix("docs/")
        return f"{path}/index.md" if (ROOT / "docs" / path).is_dir() else path.replace("README.md", "index.md")
    return f"files/{path}.md"


def show_file(path, folder):
    """Writes a page that shows a file, or lists a folder."""
    page = folder / place_of(path)
    if page.exists():
        return
    page.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / path
    if source.is_dir():
        names = sorted(entry.name for entry in source.iterdir() if not entry.name.startswith((".", "__")))
        page.write_text(f"# {path}\n\n" + "".join(f"- `{path}/{name}`\n" for name in names))
    else:
        page.write_text(f"# {path}\n\n````{LANGUAGES.get(source.suffix, '')}\n{source.read_text()}\n````\n")


def with_links(line, origin, folder):
    """Returns a line of the page `origin`, with its links changed to links to pages of the site."""
    def changed(match):
        target, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", match[1]) or not target:
            return match[0]
        path = os.path.relpath((ROOT / origin).parent / target, ROOT)
        if path not in PAGES and not path.startswith("docs/"):
            show_file(path, folder)
        here = pathlib.PurePosixPath(place_of(origin)).parent
        return f"]({os.path.relpath(place_of(path), here)}{'#' + anchor if anchor else ''})"

    return re.sub(r"\]\(([^()\s]+)\)", changed, line)


def linkable(found):
    """Returns {name: entry} for the names that become links in spans of code. Names that are plain English words are
    left out."""
    names = {}
    for entry in found.values():
        if entry.folder in ("verifiers", "paths", "draft-samplings", "tree-samplings") or "_" in entry.name:
            names.setdefault(entry.name, entry)
    return names


def stage_page(origin, found, folder):
    """Writes the page `origin` into the site's pages, and adds the page to the mentions of every entry that it
    names."""
    text = (ROOT / origin).read_text()
    names, seen, lines = linkable(found), set(), text.splitlines()
    title = next((line[2:] for line in lines if line.startswith("# ")), origin)
    here = pathlib.PurePosixPath(place_of(origin)).parent
    for number, line in reader.split(text)[1]:
        line = with_links(line, origin, folder)

        def linked(match):
            entry = names.get(match[1])
            if entry is None or entry.name in seen:
                return match[0]
            seen.add(entry.name)
            entry.mentions.append((place_of(origin), title))
            return f"[`{entry.name}`]({os.path.relpath(entry.page, here)})"

        if not line.startswith("#") and origin != "CHANGELOG.md":
            line = re.sub(r"(?<![\[`])`([a-z_0-9/]+)`(?![\]`])", linked, line)
        lines[number - 1] = line
    # The tests read the name of a block of code, the word after its language, as in "python sampler". Removes the name,
    # because mkdocs would show a block with a name as prose.
    for block in reader.split(text)[0]:
        if " " in block.language:
            lines[block.line - 2] = lines[block.line - 2].replace(block.language, block.language.split()[0])
    page = folder / place_of(origin)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines) + "\n")
    return place_of(origin), title


def stage(found, folder):
    """Writes all pages of the repository into `folder`, with changed links. Returns [(path in the site, title)]."""
    staged = [stage_page(str(page.relative_to(ROOT)), found, folder) for page in reader.pages()]
    for file in (ROOT / "docs").rglob("*"):
        if file.is_file() and file.suffix != ".md" and ROOT / "docs" / "site" not in file.parents:
            target = folder / file.relative_to(ROOT / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    for section in sorted({place.split("/")[0] for place, _ in staged if "/" in place}):
        page = folder / section / "index.md"
        if not page.exists():
            page.write_text(f"# {section.capitalize()}\n\n" + "".join(
                f"- [{title}]({place.split('/')[1]})\n" for place, title in staged if place.startswith(section + "/")))
            staged.append((f"{section}/index.md", section.capitalize()))
    return staged
