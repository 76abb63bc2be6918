#include <draftproof/properties/simulation/sampled_null.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <draftproof/properties/simulation/joint_distribution.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {

namespace {

constexpr double beside_weight = 1.0 / 20;  ///< weight of each of `serial_dependence`, `drafts` and `optimum`

std::vector<double> distribution_of(const RatioTable& table, auto probability) {
  std::vector<double> distribution;
  for (Token x = 0; x < table.vocabulary(); ++x) distribution.push_back(probability(x));
  return distribution;
}

/// Returns the joint distribution of path and token in closed form; empty if no closed form is known.
JointRows path_rows(std::string_view scheme, const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  const JointDistribution* distribution = known_joint_distributions().of(scheme, drafter.info().name);
  return distribution ? distribution->rows(table, drafts) : JointRows{};
}

}  // namespace

SampledNull::SampledNull(std::string_view scheme, const AnyDrafter& drafter, const RatioTable& table, int drafts)
    : target_{distribution_of(table, [&](Token x) { return table.target(x); })},
      proposal_{distribution_of(table, [&](Token x) { return table.proposal(x); })},
      suite_{{.target = target_, .proposal = proposal_, .paths = path_rows(scheme, drafter, table, drafts)}},
      groups_{mass_groups(ratio_key(target_, proposal_), target_)},
      neighbours_{pair_distribution()} {
  if (drafter.info().shared_proposal_iid || drafter.info().several_proposals)
    for (int k = 0; k < drafts; ++k)
      drafts_.emplace_back(distribution_of(table, [&](Token x) { return table.proposal(x, k); }));
  if (const auto bounds = optimum_bounds_of(drafter, table, drafts)) optimum_ = bounds->upper;
}

SampledCounts SampledNull::nothing() const {
  return {.cells = suite_.empty_counts(),
          .serial_dependence = std::vector<std::uint64_t>(default_groups * default_groups),
          .drafts = std::vector<std::uint64_t>(drafts_.size() * target_.size())};
}

std::size_t SampledNull::groups() { return default_groups; }

std::size_t SampledNull::pair(Token a, Token b) const {
  return groups_[static_cast<std::size_t>(a)] * default_groups + groups_[static_cast<std::size_t>(b)];
}

std::vector<GateComponent> SampledNull::evidence(const SampledCounts& counts, double exposure, double pairs) const {
  std::vector<GateComponent> beside{
      {"serial_dependence", neighbours_.log_e(counts.serial_dependence, pairs), beside_weight}};
  if (sees_drafts()) {
    std::vector<double> by_draft;
    for (std::size_t k = 0; k < drafts_.size(); ++k)
      by_draft.push_back(
          drafts_[k].log_e(std::span(counts.drafts).subspan(k * target_.size(), target_.size()), exposure));
    beside.push_back({"drafts", log_mean_exp(by_draft), beside_weight});
  }
  // The factor 1 + 1e-9 and the summand 1e-14 cover the error of the optimum, which is below (K + 2) 2^-53, or a
  // relative 1e-9 if the optimum was found by a numerical method.
  if (optimum_)
    beside.push_back({"optimum",
                      log_e_poisson_upper(counts.draft_emitted, exposure * (*optimum_ * (1 + 1e-9) + 1e-14)),
                      beside_weight});
  auto components = suite_.evidence(counts.cells, exposure).components;
  const double left = 1 - beside_weight * static_cast<double>(beside.size());
  for (GateComponent& component : components) component.weight *= left;
  components.insert(components.end(), beside.begin(), beside.end());
  return components;
}

std::vector<double> SampledNull::pair_distribution() const {
  const auto masses = folded(groups_, target_);
  std::vector<double> distribution;
  for (const double a : masses)
    for (const double b : masses) distribution.push_back(a * b);
  return distribution;
}

}  // namespace draftproof
