#include <draftproof/report/plots/style.hpp>

#include <fmt/format.h>

namespace draftproof::plots {

std::string colour_style(std::string_view selector) {
  constexpr std::string_view light =
      "--paper:#fff;--ink:#1b1f24;--faint:#57606a;--grid:#e1e5ea;--panel:#f5f7f9;--good:#00664b;--bad:#b03a00;"
      "--c0:#0072b2;--c1:#d55e00;--c2:#00805c;--c3:#a8508a;--c4:#8a6200;--c5:#2f86bd;--c6:#30363d";
  constexpr std::string_view dark =
      "--paper:#14181d;--ink:#e8ebee;--faint:#a3adb8;--grid:#323a43;--panel:#1d232a;--good:#4fd0a5;--bad:#ff9a66;"
      "--c0:#5ab4ea;--c1:#ff8f4d;--c2:#3fcfa2;--c3:#eaa0cf;--c4:#e8bd4a;--c5:#9ad0f5;--c6:#cdd5dd";
  return fmt::format("{0}{{{1}}}\n@media (prefers-color-scheme:dark){{{0}{{{2}}}}}\n@media print{{{0}{{{1}}}}}\n",
                     selector, light, dark);
}

std::string plot_style() {
  std::string style =
      ".plot{font:11px system-ui,\"DejaVu Sans\",sans-serif;fill:var(--ink)}\n"
      ".plot .head{font-size:13px;font-weight:600}\n"
      ".plot .mono{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}\n"
      ".plot .faint{fill:var(--faint)}\n"
      ".plot .ground{fill:var(--paper)}\n"
      ".plot .grid{stroke:var(--grid)}\n"
      ".plot .axis{stroke:var(--faint);fill:none}\n"
      ".plot .roof{stroke:var(--ink);stroke-width:2.2;fill:none}\n"
      ".plot .above{fill:var(--grid);opacity:.6}\n"
      ".plot .alarm{stroke:var(--bad);stroke-width:1.6;stroke-dasharray:5 3}\n"
      ".plot .trend{fill:none;stroke-width:1.8}\n"
      ".plot .dashed{stroke-dasharray:5 3}\n"
      ".plot .span{stroke-width:1.3;fill:none}\n"
      ".plot .whisker{stroke:var(--ink);stroke-width:1.2}\n"
      ".plot .mark{stroke:var(--paper);stroke-width:.8}\n"
      ".plot .bar{fill:var(--c0)}\n"
      ".plot .bar.lossy{fill:var(--c4)}\n"
      ".plot .bar.mutant{fill:var(--c1)}\n"
      ".plot .hit{fill:var(--c1)}\n"
      ".plot .kept{fill:var(--grid)}\n"
      ".plot .sign{stroke:var(--paper);stroke-width:1.6}\n"
      ".plot .dot{fill:var(--faint)}\n";
  for (int i = 0; i < 7; ++i)
    style += fmt::format(
        ".plot .mark.c{0}{{fill:var(--c{0})}}.plot .trend.c{0},.plot .span.c{0}{{stroke:var(--c{0})}}\n", i);
  return style;
}

}  // namespace draftproof::plots
