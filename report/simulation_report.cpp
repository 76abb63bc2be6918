#include <draftproof/report/simulation_report.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>
#include <draftproof/statistics/interval.hpp>

namespace draftproof {

namespace {

/// Signed root of the Poisson deviance, which is nearly standard normal even for small counts. Infinite if a token of
/// expectation 0 was emitted.
double deviation(std::uint64_t observed, double expected) {
  const auto count = static_cast<double>(observed);
  if (expected <= 0) return count > 0 ? INFINITY : 0;
  const double deviance = 2 * ((count > 0 ? count * std::log(count / expected) : 0) - (count - expected));
  return std::copysign(std::sqrt(std::max(deviance, 0.0)), count - expected);
}

Section acceptance_section(const SimulatedPosition& at, double confidence) {
  const Tally& tally = at.tally;
  Section section{
      .title = fmt::format("{} on {}, position {}", at.what.verifier.info().name, at.source.name(), at.position),
      .before = {fmt::format("  V = {}, K = {}, draft law {}, {}, seed {}", grouped(at.source.vocabulary()),
                             at.what.drafts, at.what.drafter.info().name, counted(tally.trials, "tuple"),
                             at.what.seed)}};
  section.table.columns = {{"event"}, {"count", true}, {"rate", true}, {"low", true}, {"high", true}};
  const auto add = [&](std::string name, std::uint64_t count) {
    const Interval interval = clopper_pearson(count, tally.trials, 1 - confidence);
    section.table.rows.push_back(
        {{std::move(name)},
         {grouped(count)},
         {fmt::format("{:.6f}", tally.trials ? static_cast<double>(count) / static_cast<double>(tally.trials) : 0)},
         {fmt::format("{:.6f}", interval.low)},
         {fmt::format("{:.6f}", interval.high)}});
  };
  for (int k = 0; k < at.what.drafts; ++k)
    add(fmt::format("draft {} accepted", k + 1), tally.by_draft[static_cast<std::size_t>(k)]);
  add("a draft accepted (flag)", tally.flagged);
  add("token among the drafts (membership)", tally.members);
  if (tally.impossible) add("branch of probability zero reached", tally.impossible);
  section.after.push_back(
      fmt::format("  one draft {:.6f}{}", 1 - at.table.residual_mass(1),
                  at.optimum ? fmt::format(", optimum of this draft law {:.6f}", *at.optimum) : ""));
  if (!at.place.refusal.empty()) section.after.push_back(fmt::format("  on the CPU: {}", at.place.refusal));
  if (at.place.on_device())
    section.after.push_back(fmt::format("  tuples drawn, decided and counted on {}", at.place.device));
  else
    section.after.push_back(fmt::format("  {:.1f} ns of processor time a tuple, histogram included",
                                        tally.trials ? 1e9 * at.cpu_seconds / static_cast<double>(tally.trials) : 0));
  return section;
}

std::string points_of(const AcceptanceEstimate& estimate) {
  return estimate.form == DraftPoints::Form::trials ? "trials of the drafter" : "scrambled Sobol points";
}

Section estimated(const AcceptanceEstimate& estimate, double confidence) {
  Section section{.title = "Acceptance from the conditional law of each draft tuple"};
  section.table.columns = {{"event"}, {"rate", true}, {"low", true}, {"high", true}, {"standard error", true}};
  const auto add = [&](std::string name, const ReplicatedMean& mean) {
    const Interval interval = mean.interval(confidence);
    section.table.rows.push_back({{std::move(name)},
                                  {fmt::format("{:.7f}", mean.mean)},
                                  {fmt::format("{:.7f}", interval.low)},
                                  {fmt::format("{:.7f}", interval.high)},
                                  {fmt::format("{:.1e}", mean.standard_error)}});
  };
  add("a draft accepted (flag)", estimate.flag);
  add("token among the drafts (membership)", estimate.membership);
  section.after.push_back(fmt::format("  {} on {}, {} replicates; t intervals, empirical",
                                      counted(estimate.tuples, "tuple"), points_of(estimate),
                                      estimate.flag.replicates));
  return section;
}

nlohmann::ordered_json data_of(const AcceptanceEstimate& estimate, double confidence) {
  const auto entry = [&](const ReplicatedMean& mean) {
    const Interval interval = mean.interval(confidence);
    return nlohmann::ordered_json{
        {"rate", mean.mean}, {"standard_error", mean.standard_error}, {"low", interval.low}, {"high", interval.high}};
  };
  return {{"tuples", estimate.tuples},     {"replicates", estimate.flag.replicates},
          {"points", points_of(estimate)}, {"confidence", confidence},
          {"flag", entry(estimate.flag)},  {"membership", entry(estimate.membership)}};
}

}  // namespace

Document report_simulation(const SimulatedPosition& at, double confidence, int tokens, bool timings) {
  Document document;
  const Tally& tally = at.tally;
  std::vector<double> target;
  for (Token x = 0; x < at.table.vocabulary(); ++x) target.push_back(at.table.target(x));
  const double observed = tally.trials > tally.impossible ? observed_total_variation(tally.histogram, target) : 1;
  const double expected = expected_total_variation(target, tally.trials);

  auto& data = document.data;
  data = {{"schema", "draftproof.simulate/2"},
          {"source", at.source.name()},
          {"about", at.source.describe()},
          {"position", at.position},
          {"verifier", at.what.verifier.info().name},
          {"law", at.what.drafter.info().name},
          {"drafts", at.what.drafts},
          {"seed", at.what.seed},
          {"tuples", tally.trials},
          {"flagged", tally.flagged},
          {"members", tally.members},
          {"impossible", tally.impossible},
          {"accepted_by_draft", std::vector(tally.by_draft.begin(), tally.by_draft.begin() + at.what.drafts)},
          {"single_draft", 1 - at.table.residual_mass(1)},
          {"observed_total_variation", observed},
          {"expected_total_variation", expected}};
  data["optimum"] = at.optimum ? nlohmann::ordered_json(*at.optimum) : nlohmann::ordered_json();
  if (at.place.asked()) data["device"] = at.place.device;
  if (!at.place.refusal.empty()) data["not_on_device"] = at.place.refusal;
  if (timings && !at.place.on_device())
    data["nanoseconds_per_tuple"] =
        1e9 * at.cpu_seconds / static_cast<double>(std::max<std::uint64_t>(1, tally.trials));
  document.sections.push_back(acceptance_section(at, confidence));
  if (at.estimate) {
    data["estimate"] = data_of(*at.estimate, confidence);
    document.sections.push_back(estimated(*at.estimate, confidence));
  }

  Section output{.title = "Emitted tokens against the target"};
  output.table.columns = {{"token", true}, {"target", true}, {"emitted", true}, {"deviation / sigma", true}};
  const auto trials = static_cast<double>(tally.trials);
  std::vector<Token> order(target.size());
  std::iota(order.begin(), order.end(), Token{0});
  const auto far = [&](Token x) {
    const auto i = static_cast<std::size_t>(x);
    return std::abs(deviation(tally.histogram[i], target[i] * trials));
  };
  const auto middle = order.begin() + std::min<std::ptrdiff_t>(tokens, std::ssize(order));
  std::partial_sort(order.begin(), middle, order.end(),
                    [&](Token a, Token b) { return far(a) > far(b) || (far(a) == far(b) && a < b); });
  order.erase(middle, order.end());
  for (const Token x : order) {
    const auto i = static_cast<std::size_t>(x);
    const double sigma = deviation(tally.histogram[i], target[i] * trials);
    output.table.rows.push_back({{std::to_string(x)},
                                 {fmt::format("{:.3e}", target[i])},
                                 {fmt::format("{:.3e}", static_cast<double>(tally.histogram[i]) / trials)},
                                 {fmt::format("{:+.1f}", sigma)}});
    data["farthest_tokens"].push_back({{"token", x}, {"target", target[i]}, {"count", tally.histogram[i]}});
  }
  output.after = {
      fmt::format("  the {} farthest from their law; of {} tokens the farthest is expected near {:.1f} sigma",
                  order.size(), grouped(target.size()), std::sqrt(2 * std::log(static_cast<double>(target.size())))),
      fmt::format("  total variation observed {:.2e}, expected of an exact verifier {:.2e} (sampling noise)",
                  observed, expected)};
  document.sections.push_back(std::move(output));
  return document;
}

}  // namespace draftproof
