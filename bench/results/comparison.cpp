#include <draftproof/bench/results/comparison.hpp>

#include <algorithm>
#include <optional>

#include <draftproof/bench/results/units.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof::benchmarks {

namespace {

struct Word {
  const char* data;  ///< in JSON
  const char* text;  ///< in a table
  Tone tone;
};

Word word_of(Change change) {
  switch (change) {
    case Change::faster:
      return {"faster", "faster", Tone::good};
    case Change::slower:
      return {"slower", "slower", Tone::bad};
    case Change::within_noise:
      return {"within_noise", "within noise", Tone::plain};
    case Change::too_few:
      return {"too_few_repetitions", "too few repetitions", Tone::faint};
    case Change::only_old:
      return {"missing", "missing in the new run", Tone::faint};
    case Change::only_new:
      return {"new", "not in the old run", Tone::faint};
    case Change::skipped:
      break;
  }
  return {"skipped", "skipped", Tone::faint};
}

bool measured(Change change) { return change <= Change::too_few; }

Change change_of(const Measurement& before, const Measurement& after, double ratio, double threshold) {
  const Spread a = before.spread(), b = after.spread();
  if (ratio <= 1 + threshold && ratio * (1 + threshold) >= 1) return Change::within_noise;
  if (b.low <= a.high && a.low <= b.high) return Change::within_noise;
  if (chance_of_separation(before.seconds.size(), after.seconds.size()) > largest_chance) return Change::too_few;
  return ratio > 1 ? Change::slower : Change::faster;
}

}  // namespace

double chance_of_separation(std::size_t n, std::size_t m) {
  double chance = 2;  // either run may be the upper one
  for (std::size_t i = 1; i <= m; ++i) chance *= static_cast<double>(i) / static_cast<double>(n + i);
  return std::min(chance, 1.0);
}

std::vector<Compared> compare(const Results& old_run, const Results& new_run, double threshold) {
  std::vector<Compared> compared;
  for (const Measurement& before : old_run.measurements) {
    const Measurement* after = new_run.find(before.name);
    Compared& row = compared.emplace_back(Compared{before.name, Change::only_old});
    if (!after) continue;
    row.change = Change::skipped;
    if (!before.timed() || !after->timed()) continue;
    row.old_spread = before.spread();
    row.new_spread = after->spread();
    row.ratio = row.new_spread.median / row.old_spread.median;
    row.change = change_of(before, *after, row.ratio, threshold);
  }
  for (const Measurement& after : new_run.measurements)
    if (!old_run.find(after.name)) compared.push_back({after.name, Change::only_new});
  return compared;
}

Document report_comparison(const std::vector<Compared>& compared, const std::string& old_file,
                           const std::string& new_file, double threshold) {
  Document document;
  document.data = {{"schema", "draftproof.bench.compare/1"},
                   {"old", old_file},
                   {"new", new_file},
                   {"threshold", threshold},
                   {"largest_chance", largest_chance},
                   {"benchmarks", nlohmann::ordered_json::array()}};
  Section section{.title = new_file + " against " + old_file};
  section.table.columns = {{"benchmark"},    {"old", true},   {"spread", true}, {"new", true},
                           {"spread", true}, {"ratio", true}, {"verdict"}};
  std::size_t faster = 0, slower = 0;
  for (const Compared& row : compared) {
    const Word word = word_of(row.change);
    nlohmann::ordered_json entry{{"name", row.name}, {"verdict", word.data}};
    std::vector<Cell> cells{{row.name}};
    if (measured(row.change)) {
      entry["ratio"] = row.ratio;
      for (const auto& [key, spread] : {std::pair{"old", row.old_spread}, std::pair{"new", row.new_spread}}) {
        entry[key] = {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}};
        cells.push_back({time_text(spread.median)});
        cells.push_back({spread_text(spread.relative()), Tone::faint});
      }
      cells.push_back({three_digits(row.ratio)});
    } else {
      cells.resize(6);
    }
    cells.push_back({word.text, word.tone});
    section.table.rows.push_back(std::move(cells));
    document.data["benchmarks"].push_back(std::move(entry));
    faster += row.change == Change::faster;
    slower += row.change == Change::slower;
  }
  section.after = {fmt::format("  {}: {} faster, {} slower", counted(compared.size(), "benchmark"), faster, slower),
                   fmt::format("  faster or slower: all repetitions of one run beyond all of the other, which chance "
                               "does at most {:.0f} times in 100, and medians more than {:.3g} % apart",
                               100 * largest_chance, 100 * threshold)};
  document.data["faster"] = faster;
  document.data["slower"] = slower;
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace draftproof::benchmarks
