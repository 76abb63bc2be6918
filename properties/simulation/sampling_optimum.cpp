#include <draftproof/properties/simulation/sampling_optimum.hpp>

#include <cmath>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {
namespace {

/// Half a unit of the last digit in a report, which prints six digits.
constexpr double tight = 5e-7;
/// Whether all tuples and all cuts take milliseconds at this size.
bool enumerable(int vocabulary, int drafts) { return vocabulary <= 12 && std::pow(vocabulary, drafts) <= 20'736; }

double by_enumeration(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  const auto sets = set_distribution<double>(
      [&](Explorer<double>& random, Token* out) { return drafter.draw(table, drafts, random, out); });
  std::vector<double> target;
  for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
  return cut_optimum<double>(target, sets);
}

std::vector<Token> fixed_set(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  Token tuple[max_drafts];
  Explorer<double> nothing_to_explore;
  return {tuple, tuple + drafter.draw(table, drafts, nothing_to_explore, tuple)};
}

double of_fixed_set(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  double mass = 0;
  for (const Token x : fixed_set(drafter, table, drafts)) mass += table.target(x);
  return mass;
}

bool holds_the_target(const std::vector<Token>& set, const RatioTable& table) {
  for (Token x = 0; x < table.vocabulary(); ++x)
    if (table.target(x) > 0 && !among(x, set.data(), static_cast<int>(set.size()))) return false;
  return true;
}

}  // namespace

std::optional<OptimumBounds> optimum_bounds_of(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  const auto exact = [](double value) { return OptimumBounds{value, value}; };
  // The optimum depends only on the marginal distribution of the drafts, because the bound by cuts holds for every
  // joint distribution of drafts and token. So shared noise has no effect.
  if (drafter.info().shared_noise())
    return optimum_bounds_of(*registry().drafter(drafter.info().marginal_sampling_of), table, drafts);
  if (drafter.info().shared_proposal_iid) return exact(iid_optimum(table, drafts).acceptance);
  if (drafter.info().fixed) return exact(of_fixed_set(drafter, table, drafts));
  registry();  // fills the list of methods
  std::optional<OptimumBounds> bounds;
  if (const auto find = OptimumMethods::instance().of(drafter.info().name)) bounds = find(table, drafts);
  if (bounds && bounds->upper - bounds->lower <= tight) return bounds;
  if (enumerable(table.vocabulary(), drafts)) return exact(by_enumeration(drafter, table, drafts));
  return bounds;
}

std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  const auto bounds = optimum_bounds_of(drafter, table, drafts);
  if (!bounds || bounds->upper - bounds->lower > tight) return std::nullopt;
  return bounds->upper;
}

std::optional<bool> always_accepts(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  if (drafter.info().shared_noise())
    return always_accepts(*registry().drafter(drafter.info().marginal_sampling_of), table, drafts);
  if (drafter.info().shared_proposal_iid) return always_accepts_iid(table, drafts);
  if (drafter.info().fixed) return holds_the_target(fixed_set(drafter, table, drafts), table);
  registry();
  if (const auto certain = OptimumMethods::instance().certain_of(drafter.info().name)) return certain(table, drafts);
  // The error of the bounds is far below `tight`, so an upper bound below 1 - tight proves that the optimum is not 1.
  if (const auto bounds = optimum_bounds_of(drafter, table, drafts); bounds && bounds->upper < 1 - tight)
    return false;
  return std::nullopt;
}

}  // namespace draftproof
