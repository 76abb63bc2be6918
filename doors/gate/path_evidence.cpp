#include <draftproof/doors/gate/path_evidence.hpp>

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <draftproof/statistics/count_models.hpp>
#include <draftproof/statistics/error_budget.hpp>
#include <draftproof/statistics/row_groups.hpp>

namespace draftproof::doors {

PathEvidence::PathEvidence(const ConditionalModel<RatioTable>& conditionals, int contexts, int depths)
    : depths_{at(depths)} {
  for (int c = 0; c < contexts; ++c) {
    const RatioTable& laws = conditionals.laws(c);
    Context context;
    std::vector<double> proposal;
    for (Token x = 0; x < laws.vocabulary(); ++x) {
      context.target.push_back(laws.target(x));
      proposal.push_back(laws.proposal(x));
    }
    context.group[0] = mass_groups(ratio_key(context.target, proposal), context.target);
    context.group[1] = mass_groups(context.target, context.target);
    for (std::size_t key = 0; key < keys; ++key) context.mass[key] = folded(context.group[key], context.target);
    tokens_.emplace_back(context.target.size());
    context_.push_back(std::move(context));
  }
  groups_.assign(context_.size() * depths_ * keys, std::vector<std::uint64_t>(default_groups));
}

std::vector<PathEvidence::Bet> PathEvidence::bets() const {
  constexpr const char* key_names[keys] = {"p / q", "p"};
  const auto contexts = static_cast<double>(context_.size());
  std::vector<Bet> all;
  for (std::size_t c = 0; c < context_.size(); ++c) {
    all.push_back({&context_[c].target, &tokens_[c], 1 / (2 * contexts), fmt::format("context {}, token", c)});
    for (std::size_t d = 0; d < depths_; ++d)
      for (std::size_t key = 0; key < keys; ++key)
        all.push_back({&context_[c].mass[key], &groups_[(c * depths_ + d) * keys + key],
                       1 / (2 * keys * contexts * static_cast<double>(depths_)),
                       fmt::format("context {}, token {} of a trial, group along {}", c, d + 1, key_names[key])});
  }
  return all;
}

double PathEvidence::log_e() const {
  std::vector<double> logs, weights;
  for (const Bet& bet : bets()) {
    logs.push_back(log_e_multinomial(*bet.law, *bet.counts));
    weights.push_back(bet.weight);
  }
  return log_weighted_mean_exp(logs, weights);
}

std::string PathEvidence::worst() const {
  std::string text;
  double most = -1;
  for (const Bet& bet : bets()) {
    const double log_e = log_e_multinomial(*bet.law, *bet.counts);
    if (!(log_e > most)) continue;
    most = log_e;
    const auto seen = static_cast<double>(std::accumulate(bet.counts->begin(), bet.counts->end(), std::uint64_t{0}));
    std::size_t cell = 0;
    double farthest = -1;
    for (std::size_t i = 0; i < bet.law->size(); ++i) {
      const double expected = seen * (*bet.law)[i], off = std::abs(static_cast<double>((*bet.counts)[i]) - expected);
      const double deviations = expected > 0 ? off / std::sqrt(expected) : off > 0 ? HUGE_VAL : 0;
      if (deviations > farthest) farthest = deviations, cell = i;
    }
    text =
        fmt::format("{} {}: {} seen, {:.1f} expected", bet.name, cell, (*bet.counts)[cell], seen * (*bet.law)[cell]);
  }
  return text;
}

}  // namespace draftproof::doors
