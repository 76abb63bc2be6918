#include <draftproof/properties/scripted/scripted_decision.hpp>

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof {

std::vector<double> double_row(const std::vector<int>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> row;
  for (const int weight : weights) row.push_back(weight / total);
  return row;
}

Rows<double> double_distributions(const Instance& instance) {
  std::vector<std::vector<double>> proposals;
  for (const auto& weights : instance.proposals) proposals.push_back(double_row(weights));
  return {double_row(instance.target), std::move(proposals)};
}

RatioTable table_of(const Rows<double>& rows) {
  std::vector<double> target;
  std::vector<std::vector<double>> proposals(static_cast<std::size_t>(rows.proposals()));
  for (Token x = 0; x < rows.vocabulary(); ++x) {
    target.push_back(rows.target(x));
    for (int k = 0; k < rows.proposals(); ++k) proposals[static_cast<std::size_t>(k)].push_back(rows.proposal(x, k));
  }
  return {target, proposals};
}

std::vector<Tuple> possible_tuples(const AnyDrafter& drafter, const Rows<double>& rows, int drafts,
                                   std::size_t most) {
  Explorer<double> explorer;
  std::vector<Tuple> all;
  // The caller tests only a sample of the tuples, so the enumeration may be incomplete.
  [[maybe_unused]] const bool whole = each_drafted_tuple(
      explorer, [&](Explorer<double>& random, Token* out) { return drafter.draw(rows, drafts, random, out); },
      [&](std::span<const Token> tuple, double) { all.emplace_back(tuple.begin(), tuple.end()); });
  if (all.size() <= most) return all;
  std::vector<Tuple> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

std::string tuple_text(std::span<const Token> tuple) { return fmt::format("({})", fmt::join(tuple, " ")); }

std::string verdict_text(const Verdict& verdict) {
  return verdict.accepted < 0 ? fmt::format("{}", verdict.token)
                              : fmt::format("{} (draft {})", verdict.token, verdict.accepted);
}

bool same_draws(const std::vector<Draw>& a, const std::vector<Draw>& b, std::size_t first) {
  if (a.size() < first || b.size() < first) return false;
  for (std::size_t n = 0; n < first; ++n)
    if (a[n].purpose != b[n].purpose || a[n].word != b[n].word || a[n].num != b[n].num || a[n].den != b[n].den ||
        a[n].value != b[n].value)
      return false;
  return true;
}

}  // namespace draftproof
