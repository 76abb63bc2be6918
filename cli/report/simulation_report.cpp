#include <draftproof/cli/report/survey_report.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <boost/math/special_functions/erf.hpp>

#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>

namespace draftproof {

namespace {

/// Returns the signed root of the Poisson deviance, which is nearly standard normal even for small counts. Infinite if
/// a token with an expected count of 0 was emitted.
double deviation(std::uint64_t observed, double expected) {
  const auto count = static_cast<double>(observed);
  if (expected <= 0) return count > 0 ? INFINITY : 0;
  const double deviance = 2 * ((count > 0 ? count * std::log(count / expected) : 0) - (count - expected));
  return std::copysign(std::sqrt(std::max(deviance, 0.0)), count - expected);
}

/// Returns the median of the largest of n independent |N(0, 1)|: the z with (2 Phi(z) - 1)^n = 1/2.
double median_of_largest(std::size_t n) {
  return std::numbers::sqrt2 * boost::math::erfc_inv(-std::expm1(-std::numbers::ln2 / static_cast<double>(n)));
}

Section acceptance_section(const SimulatedPosition& at, double confidence) {
  const Tally& tally = at.tally;
  Section section{
      .title = fmt::format("{} on {}, position {}", at.what.verifier.info().name, at.source.name(), at.position),
      .before = {fmt::format("  V = {}, K = {}, draft sampling {}, {}, seed {}", grouped(at.source.vocabulary()),
                             at.what.drafts, at.what.drafter.info().name, counted(tally.trials, "tuple"),
                             at.what.seed)}};
  const auto add = [&](std::string name, std::uint64_t count) {
    const Interval interval = clopper_pearson(count, tally.trials, 1 - confidence);
    ResultRow row;
    row.cell("event", {std::move(name)}).number("count", {grouped(count)});
    row.fixed("rate", "rate", tally.trials ? static_cast<double>(count) / static_cast<double>(tally.trials) : 0, 6);
    row.fixed("low", "low", interval.low, 6).fixed("high", "high", interval.high, 6);
    section.table.add(std::move(row));
  };
  for (int k = 0; k < at.what.drafts; ++k)
    add(fmt::format("draft {} accepted", k + 1), tally.by_draft[static_cast<std::size_t>(k)]);
  add("a draft accepted, by the verifier's count", tally.draft_accepted);
  add("a draft emitted", tally.draft_emitted);
  if (tally.impossible) add("branch of probability zero reached", tally.impossible);
  section.after.push_back(
      fmt::format("  acceptance of one draft {:.6f}{}", 1 - at.table.residual_mass(1),
                  at.optimum ? fmt::format(", optimum of this draft sampling {:.6f}", *at.optimum) : ""));
  if (!at.place.refusal.empty()) section.after.push_back(fmt::format("  on the CPU: {}", at.place.refusal));
  if (at.place.on_device())
    section.after.push_back(fmt::format("  tuples drawn, decided and counted on {}", at.place.device));
  else
    section.after.push_back(fmt::format("  {:.1f} ns of processor time per tuple, histogram included",
                                        tally.trials ? 1e9 * at.cpu_seconds / static_cast<double>(tally.trials) : 0));
  return section;
}

std::string points_of(const AcceptanceEstimate& estimate) {
  return estimate.form == DraftPoints::Form::trials ? "trials of the drafter" : "scrambled Sobol points";
}

/// Adds the estimate to the data, and a section about it.
void add_estimate(Document& document, const AcceptanceEstimate& estimate, double confidence) {
  auto& data = document.data["estimate"];
  data = {{"tuples", estimate.tuples},
          {"replicates", estimate.draft_accepted.replicates},
          {"points", points_of(estimate)},
          {"confidence", confidence}};
  Section section{.title = "Acceptance from the conditional distribution of each draft tuple"};
  const auto add = [&](const char* key, const char* name, const ReplicatedMean& mean) {
    const Interval interval = mean.interval(confidence);
    ResultRow row;
    row.cell("event", {name}).fixed("rate", "rate", mean.mean, 7).data("standard_error", mean.standard_error);
    row.fixed("low", "low", interval.low, 7).fixed("high", "high", interval.high, 7);
    row.number("standard error", {fmt::format("{:.1e}", mean.standard_error)});
    data[key] = row.record;
    section.table.add(std::move(row));
  };
  add("draft_accepted", "a draft accepted, by the verifier's count", estimate.draft_accepted);
  add("draft_emitted", "a draft emitted", estimate.draft_emitted);
  section.after.push_back(fmt::format("  {} on {}, {} replicates; Student t intervals over the replicates",
                                      counted(estimate.tuples, "tuple"), points_of(estimate),
                                      estimate.draft_accepted.replicates));
  document.sections.push_back(std::move(section));
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
  data = {{"schema", "draftproof.simulate/3"},
          {"source", at.source.name()},
          {"about", at.source.describe()},
          {"position", at.position},
          {"verifier", at.what.verifier.info().name},
          {"draft_sampling", at.what.drafter.info().name},
          {"drafts", at.what.drafts},
          {"seed", at.what.seed},
          {"tuples", tally.trials},
          {"draft_accepted", tally.draft_accepted},
          {"draft_emitted", tally.draft_emitted},
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
  if (at.estimate) add_estimate(document, *at.estimate, confidence);

  Section output{.title = "Emitted tokens against the target"};
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
    ResultRow row;
    row.data("token", x).number("token", {std::to_string(x)});
    row.data("target", target[i]).number("target", {fmt::format("{:.3e}", target[i])});
    row.data("count", tally.histogram[i]);
    row.number("emitted", {fmt::format("{:.3e}", static_cast<double>(tally.histogram[i]) / trials)});
    row.number("deviation / sigma", {fmt::format("{:+.1f}", sigma)});
    output.table.add(data["farthest_tokens"], std::move(row));
  }
  // From an expected count of 5 on, the usual rule, a deviation is nearly normal. A token with p = 0 does not deviate.
  const auto usual = static_cast<std::size_t>(
      std::count_if(target.begin(), target.end(), [trials](double p) { return p * trials >= 5; }));
  std::string farthest = fmt::format("  the {} farthest from the target", counted(order.size(), "token"));
  if (usual > 0)
    farthest += fmt::format(
        "; of an exact verifier the largest deviation has median {:.1f} sigma, among {} "
        "with an expected count of 5 or more",
        median_of_largest(usual), counted(usual, "token"));
  output.after = {
      std::move(farthest),
      fmt::format("  total variation observed {:.2e}, expected of an exact verifier {:.2e} (sampling noise)",
                  observed, expected)};
  document.sections.push_back(std::move(output));
  return document;
}

}  // namespace draftproof
