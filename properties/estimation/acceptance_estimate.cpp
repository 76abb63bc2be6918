#include <draftproof/properties/estimation/acceptance_estimate.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <draftproof/properties/estimation/tuple_controls.hpp>

namespace draftproof {
namespace {

using TableDecider = Decider<RatioTable, Explorer<double>>;

/// Conditional acceptance of tuples, for one thread.
class TupleWalk {
 public:
  explicit TupleWalk(const TableDecider& decider) : decider_{decider} {}

  void operator()(const TupleStream& stream, std::span<double> outcomes) {
    const std::span<const Token> tuple = stream.tuple();
    distinct_.assign(tuple.begin(), tuple.end());
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    explorer_.track_only(distinct_);
    explorer_.fix_picks(stream.spare());
    double flag = 0, membership = 0;
    const auto add = [&](Token x, int accepted, double probability) {
      const bool drafted = among(x, distinct_.data(), static_cast<int>(distinct_.size()));
      if (drafted) membership += probability;
      if (accepted >= 0 || (accepted == accepted_if_drafted && drafted)) flag += probability;
    };
    const bool whole = explorer_.explore(
        [&](Explorer<double>& random) { return decider_.decide(tuple, random); },
        [&](const Leaf<double>& leaf) {
          leaf.each_token([&](Token x, double probability) { add(x, leaf.verdict.accepted, probability); });
        });
    if (!whole) throw std::invalid_argument("acceptance estimate: a tuple has more branches than a walk may take");
    outcomes[0] = flag;
    outcomes[1] = membership;
  }

 private:
  const TableDecider& decider_;
  Explorer<double> explorer_;
  std::vector<Token> distinct_;
};

}  // namespace

std::optional<AcceptanceEstimate> estimate_acceptance(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                                      const RatioTable& table, int drafts,
                                                      const EstimateOptions& options) {
  const auto decider = verifier.explore_on(table, drafts);
  if (!decider) throw std::invalid_argument(std::string(verifier.info().name) + " cannot be walked on tables");
  const DraftPoints points(drafter, table, drafts);
  const TupleControls controls(points);
  const auto means = replicated_means(points, controls, 2, options, [&] { return TupleWalk(*decider); });
  if (means.empty()) return std::nullopt;
  const auto replicates = static_cast<std::uint64_t>(options.replicates);
  return AcceptanceEstimate{means[0], means[1], TupleStream(points, options, 0).size() * replicates, points.form()};
}

}  // namespace draftproof
