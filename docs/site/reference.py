"""Makes the page of a registered entry: its description, the rule that its header states, its measurements, and links
to other entries and pages."""
from registry import SURVEYED, WALKED

TITLES = {
    "verifiers": "Verifiers of one position", "paths": "Verifiers of paths and trees", "mutants": "Mutants",
    "path-mutants": "Mutants of paths", "draft-samplings": "Draft samplings", "tree-samplings": "Tree samplings",
    "properties": "Properties", "path-properties": "Properties of paths", "components": "Components",
    "families": "Families", "studies": "Studies",
}
#: Fields of the JSON of `draftproof describe` that are not in the page's list of fields, because another part of the
#: page shows them.
SAID = {"kind", "what_it_does", "what_it_is", "source", "claims", "draft_samplings", "a_bug_of"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def link(entry):
    """Returns a link to an entry that works on any page of the reference."""
    return f"[`{entry.name}`](../{entry.folder}/{entry.name.replace('/', '-')}.md)"


def relations(entry, found):
    """Returns [(relation, entries)]: the draft samplings, bugs and verifiers that belong to an entry or to which the
    entry belongs."""
    def named(names, *folders):
        return [found[folder, name] for name in names for folder in folders if (folder, name) in found]

    def asking(key, *folders):
        return [other for (folder, _), other in found.items()
                if folder in folders and entry.name in str(other.about.get(key, "")).split(", ")]

    distributions = str(entry.about.get("draft_samplings", "")).split(", ")
    tree = entry.folder.startswith("path")
    mutants, verifiers = ("path-mutants", "paths") if tree else ("mutants", "verifiers")
    out = [("Draft samplings", named(distributions, "draft-samplings", "tree-samplings")),
           ("Made from" if "lossy" in entry.group else "A bug of",
            named([str(entry.about.get("a_bug_of", ""))], verifiers)),
           ("Bugs of it, among the mutants", asking("a_bug_of", mutants) if entry.folder == verifiers else []),
           ("Nodes of a tree are verified by it in", named([entry.name + "_tree"], "paths", "path-mutants")),
           ("At every node", named([entry.name.removesuffix("_tree")], "verifiers", "mutants")
            if entry.name.endswith("_tree") else [])]
    if entry.folder in ("draft-samplings", "tree-samplings"):
        out += [("Verifiers for it", asking("draft_samplings", "verifiers", "paths")),
                ("Mutants for it", asking("draft_samplings", "mutants", "path-mutants"))]
    if entry.folder in ("properties", "path-properties"):
        group = "path-mutants" if entry.folder == "path-properties" else "mutants"
        out.append(("Mutants that it catches",
                    [other for (folder, _), other in found.items() if folder == group and any(
                        check["check"] == entry.name and check["status"] == "failed"
                        for row in other.kill for check in row["checks"])]))
    return [(what, entries) for what, entries in out if entries]


def measured(entry):
    """Returns the rows of a survey as a table."""
    if not entry.rows:
        return ""
    rows = []
    if entry.folder == "draft-samplings":
        rows = [[str(row["drafts"]), "-" if row["mean"] is None else f"{row['mean']:.4f}"] for row in entry.rows]
        return (f"## Optimum\n\nThe most that a lossless verifier accepts of these drafts, on `{SURVEYED}`, the "
                f"capture that comes with the tree.\n\n{table(['K', 'acceptance'], rows)}\n")
    if entry.folder == "paths":
        for row in entry.rows:
            rows.append([row["draft_sampling"], str(row["drafts"]), f"{row['block_efficiency']:.3f}",
                         f"± {1.96 * row['standard_error']:.3f}", f"{row.get('microseconds_per_step', 0):.2f}"])
        source, head = WALKED, ["distribution", "K", "tokens a call", "95 %", "µs a call"]
    else:
        for row in entry.rows:
            hit, gap = row["draft_emitted"], row["gap_closed"]
            if hit is None:
                rows.append([row["draft_sampling"], str(row["drafts"]), "not run: " + row["not_run"], "", "", "", ""])
                continue
            rows.append([row["draft_sampling"], str(row["drafts"]), f"{hit['rate']:.4f}",
                         f"{hit['low']:.4f} to {hit['high']:.4f}",
                         f"{row['optimum']:.4f}" if row["optimum"] is not None else "-",
                         f"{100 * gap:.0f} %" if gap is not None else "-",
                         f"{row.get('nanoseconds_per_tuple', 0):.0f}"])
        source, head = SURVEYED, ["distribution", "K", "acceptance", "95 %", "optimum", "gap closed", "ns a decision"]
    return (f"## Measured\n\nOn `{source}`, the capture that comes with the tree; times are of the machine that "
            f"built these pages.\n\n{table(head, rows)}\n")


def caught(entry, found):
    """Returns the section on the property that catches a mutant first, with its counterexample and replay line."""
    out = []
    for row in entry.kill:
        if row["caught"] and row.get("shown"):
            check = row["shown"]["check"]
            other = found.get(("path-properties" if row["level"] == "paths" else "properties", check))
            drafts = f"with `{row['with']}` " if row["with"] else ""
            out.append(f"Found {drafts}by {link(other) if other else '`' + check + '`'}.\n\n"
                       f"    {row['shown']['counterexample']}\n    {row['shown']['evidence']}\n"
                       f"    {row['shown']['replay']}\n")
        else:
            out.append(f"With `{row['with']}`: {'caught' if row['caught'] else 'not caught'}.\n")
    title = "Caught" if "mutants" in entry.group or "wrong" in entry.group else "Where it departs from the target"
    return f"## {title}\n\n" + "\n".join(out) + "\n" if out else ""


def page(entry, found, headers):
    """Returns the Markdown of an entry's page; `headers` has the pages of Doxygen by header."""
    about = entry.about
    text = [f"# {entry.name}\n", entry.summary[0].upper() + entry.summary[1:] + ".\n"]
    if about.get("source"):
        text.append(f"*Source.* {about['source']}.\n")
    if about.get("claims"):
        text.append("*Guarantees, each proved or refuted by a property:*\n")
        text.append("\n".join(f"- {claim}" for claim in about["claims"]) + "\n")
    facts = [[key.replace("_", " "), str(value)] for key, value in about.items() if key not in SAID]
    if facts:
        text.append(table(["", ""], [["kind", str(about["kind"])], *facts]))
    for what, entries in relations(entry, found):
        text.append(f"*{what}:* {', '.join(link(other) for other in entries)}.\n")
    if entry.comment:
        indented = "\n".join("    " + line if line else "" for line in entry.comment.splitlines())
        file = headers.get(str(entry.header))
        header = f"<a href=\"../../api/{file}\"><code>{entry.header}</code></a>" if file else f"`{entry.header}`"
        text.append(f"## The rule\n\nAs {header} opens:\n\n{indented}\n")
    text += [measured(entry), caught(entry, found)]
    command = {"families": f"describe {entry.name}", "studies": f"reproduce {entry.name}"}.get(entry.folder)
    if entry.folder in ("verifiers", "paths", "mutants", "path-mutants"):
        command = f"prove {entry.name}"
    if command:
        text.append(f"## Try it\n\n    draftproof {command}\n")
    if entry.mentions:
        text.append("## Read on\n\n" + "\n".join(f"- [{title}](../../{path})" for path, title in entry.mentions) + "\n")
    return "\n".join(part for part in text if part)


def index(folder, entries):
    """Returns the page that lists the entries of a folder."""
    rows = [[f"[`{entry.name}`]({entry.name.replace('/', '-')}.md)", entry.summary,
             entry.group.replace("_", " ").removesuffix("s") if entry.group != folder.replace("-", "_") else ""]
            for entry in entries]
    return f"# {TITLES[folder]}\n\n{table(['name', 'what it is', ''], rows)}"
