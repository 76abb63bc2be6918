"""Opens pages of results in a headless Chromium and measures them.

    page_in_browser.py PROGRAM RESULT.json...          the test; exit code 77 and a reason without a browser
    page_in_browser.py --pictures FOLDER PAGE.html     pictures of a page: light, dark and A4

At 400 and 1,600 pixels a page must make no request and log no error; every plot must be inside its figure and every
text inside its plot; no two texts of a plot or of the page may overlap; the page must not be wider than the window;
and of each table of schemes the window must show the first column of acceptance.
"""
import base64
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser

MEASURE = r"""
(() => {
  const wrong = [];
  const slack = 1;  // pixels: boxes are rounded to device pixels
  for (const one of document.querySelectorAll('details')) one.open = true;
  const name = e => (e.tagName + ' ' + (e.getAttribute('class') || '') + ' ' + e.textContent).slice(0, 70);
  const inside = (a, b) => a.left >= b.left - slack && a.right <= b.right + slack &&
                           a.top >= b.top - slack && a.bottom <= b.bottom + slack;
  const apart = list => {
    const boxes = list.map(e => [e, e.getBoundingClientRect()]).filter(x => x[1].width > 0 && x[1].height > 0)
                      .sort((x, y) => x[1].top - y[1].top);
    for (let i = 0; i < boxes.length; ++i)
      for (let j = i + 1; j < boxes.length && boxes[j][1].top < boxes[i][1].bottom - slack; ++j) {
        const [a, p] = boxes[i], [b, q] = boxes[j];
        if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > slack &&
            Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > slack && !a.contains(b) && !b.contains(a))
          wrong.push('texts overlap: ' + name(a) + ' | ' + name(b));
      }
  };
  if (document.documentElement.scrollWidth > innerWidth)
    wrong.push('the page is ' + document.documentElement.scrollWidth + ' px wide in a window of ' + innerWidth);
  for (const table of document.querySelectorAll('table')) {
    const head = [...table.querySelectorAll('th')].find(e => /, (acceptance|accepted)$/.test(e.textContent));
    if (head && head.getBoundingClientRect().right > innerWidth + slack)
      wrong.push('out of view: ' + name(head) + ' ends at ' + head.getBoundingClientRect().right.toFixed(0) + ' px');
  }
  const plots = [...document.querySelectorAll('svg.plot')];
  for (const plot of plots) {
    const box = plot.getBoundingClientRect(), frame = plot.closest('.frame'), around = plot.closest('figure');
    const room = frame.getBoundingClientRect();
    if (!inside(room, around.getBoundingClientRect())) wrong.push('a frame leaves its figure: ' + plot.ariaLabel);
    const scrolls = around.classList.contains('wide');
    if (scrolls ? box.width > frame.scrollWidth + slack : !inside(box, room))
      wrong.push('a plot leaves its frame: ' + plot.ariaLabel);
    for (const part of plot.querySelectorAll('text,rect,path,line,polyline,polygon,circle'))
      if (!inside(part.getBoundingClientRect(), box))
        wrong.push('outside of its plot (' + plot.ariaLabel + '): ' + name(part));
    const least = Math.min(...[...plot.querySelectorAll('text')].map(
      t => parseFloat(getComputedStyle(t).fontSize) * plot.getScreenCTM().a));
    if (least < 9) wrong.push('text of ' + least.toFixed(1) + ' px: ' + plot.ariaLabel);
    apart([...plot.querySelectorAll('text')]);
  }
  apart([...document.querySelectorAll('h1,h2,h3,h4,p,dt,dd,summary,figcaption,code.line,figure,table')]);
  return {plots: plots.length, wrong: wrong.slice(0, 20)};
})()
"""


def complaints(tab, page, width):
    tab.open(page.as_uri(), width)
    measured = tab.run(MEASURE)
    wrong = list(measured["wrong"])
    wrong += ["request: " + url for url in tab.requests if url != page.as_uri() and not url.startswith("data:")]
    wrong += ["console: " + text for text in tab.errors]
    return measured["plots"], wrong


def test(program, results):
    path = browser.find()
    if not path:
        print("skipped: no Chromium on this machine (Debian: chromium)")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pages = []
        for index, group in enumerate([[one] for one in results] + [results]):
            page = pathlib.Path(folder, f"page{index}.html")
            subprocess.run([program, "report", *group, "-o", page], check=True)
            pages.append(page)
        whole = pages[-1].read_text()
        tab = browser.Browser(path)
        try:
            for page in pages:
                for width in (400, 1600):
                    plots, wrong = complaints(tab, page, width)
                    print(f"{page.name} at {width} px: {plots} plots, {len(wrong)} complaints")
                    for one in wrong:
                        print("   ", one)
                    failed += bool(wrong)
            if plots < 8:
                print(f"expected at least 8 plots of all results, found {plots}")
                failed += 1
            # Each page has one mistake, which the measurement must find.
            for mistake, expected in (
                    ('<img src="http://127.0.0.1:9/a.png">', "request: "),
                    ("<script>console.error('e')</script>", "console: "),
                    ('<p style="width:3000px">wide</p>', "px wide in a window"),
                    ('<div class="scroll"><table><tr><th style="min-width:390px">scheme</th><th>run, acceptance</th>'
                     '</tr></table></div>', "out of view"),
                    ('<figure><div class="frame"><svg class="plot" viewBox="0 0 400 60"><text x="10" y="20">one</text>'
                     '<text x="15" y="22">two</text></svg></div></figure>', "texts overlap"),
                    ('<figure><div class="frame"><svg class="plot" viewBox="0 0 400 60"><text x="380" y="20">'
                     'a long text</text></svg></div></figure>', "outside of its plot"),
                    ('<figure><div class="frame" style="width:50px"><svg class="plot" style="width:200px" '
                     'viewBox="0 0 20 10"><text x="1" y="9">a</text></svg></div></figure>', "leaves its frame")):
                page = pathlib.Path(folder, "mistake.html")
                page.write_text(whole.replace("<footer>", mistake + "<footer>"))
                if not any(expected in one for one in complaints(tab, page, 400)[1]):
                    print("not seen:", mistake)
                    failed += 1
        finally:
            tab.close()
    return 1 if failed else 0


def pictures(folder, page):
    """Writes report-light.png from the plots on, report-dark.png from the top, and report-a4.png, the first sheet."""
    tab = browser.Browser(browser.find())
    try:
        for name, media, scheme, width, height, start in (
                ("light", "screen", "light", 1360, 860, "document.querySelector('.plots')"),
                ("dark", "screen", "dark", 1360, 860, "document.body"),
                ("a4", "print", "light", 794, 1123, "document.body")):  # 210 x 297 mm at 96 dpi
            tab.call("Emulation.setEmulatedMedia", media=media,
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
            tab.open(pathlib.Path(page).resolve().as_uri(), width, height)
            if media == "print":
                tab.run("document.body.style.padding = '14mm 12mm'")  # the margins of the sheet of paper
            tab.run(f"window.scrollTo(0, {start}.getBoundingClientRect().top - 40)")
            data = tab.call("Page.captureScreenshot", format="png")["data"]
            pathlib.Path(folder, f"report-{name}.png").write_bytes(base64.b64decode(data))
    finally:
        tab.close()
    return 0


if __name__ == "__main__":
    sys.exit(pictures(*sys.argv[2:]) if sys.argv[1] == "--pictures" else test(sys.argv[1], sys.argv[2:]))
