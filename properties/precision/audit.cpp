#include <draftproof/properties/precision/audit.hpp>

#include <cmath>

#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

namespace {

std::vector<double> values(const std::vector<NeumaierSum>& sums) {
  std::vector<double> row;
  row.reserve(sums.size());
  for (const auto& sum : sums) row.push_back(sum.value());
  return row;
}

template <class L>
std::optional<AuditedLaw> walk(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws, int drafts,
                               std::uint64_t leaves) {
  const auto decider = verifier.explore_on(laws, drafts);
  if (!decider) return {};
  std::vector<NeumaierSum> output(static_cast<std::size_t>(laws.vocabulary()));
  const auto at = [&output](Token x) -> NeumaierSum& { return output[static_cast<std::size_t>(x)]; };
  Explorer<double> explorer({.leaves = leaves});
  explorer.with_rounding();
  AuditedLaw law;
  law.complete = explorer.explore(
      [&](Explorer<double>& random) {
        Token tuple[max_drafts];
        const int count = drafter.draw(laws, drafts, random, tuple);
        return decider->decide({tuple, static_cast<std::size_t>(count)}, random);
      },
      [&](const Leaf<double>& leaf) {
        if (leaf.verdict.token >= 0) return at(leaf.verdict.token).add(leaf.probability);
        NeumaierSum spread;  // compensated; the explorer's own total is a running sum of up to V weights
        for (const auto& [token, weight] : leaf.spread) spread.add(weight);
        const double sum = spread.value();
        for (const auto& [token, weight] : leaf.spread) at(token).add(leaf.probability * (weight / sum));
      });
  law.leaves = explorer.leaves();
  law.output = values(output);
  return law;
}

}  // namespace

std::string_view to_text(Form form) {
  constexpr std::array<std::string_view, 3> names{"double", "tables", "fresh rows"};
  return names[static_cast<std::size_t>(form)];
}

double AuditedLaw::distance(std::span<const double> law) const {
  NeumaierSum sum;
  sum.add(1 - compensated_sum(output));
  for (std::size_t x = 0; x < law.size(); ++x) sum.add(std::abs(output[x] - law[x]));
  return sum.value() / 2;
}

std::vector<double> exact_target(std::span<const double> row) { return normalised_row(row); }

double total_variation(std::span<const double> a, std::span<const double> b) {
  NeumaierSum sum;
  for (std::size_t x = 0; x < a.size(); ++x) sum.add(std::abs(a[x] - b[x]));
  return sum.value() / 2;
}

std::optional<AuditedLaw> audit(const AnyVerifier& verifier, const AnyDrafter& drafter, Form form,
                                const RowPair& rows, int drafts, std::uint64_t leaves) {
  switch (form) {
    case Form::rows:
      return walk(verifier, drafter, Rows<double>(rows.target, rows.proposals), drafts, leaves);
    case Form::tables:
      return walk(verifier, drafter, RatioTable(rows.target, rows.proposals), drafts, leaves);
    case Form::fresh:
      break;
  }
  const std::vector<std::span<const double>> proposals(rows.proposals.begin(), rows.proposals.end());
  return walk(verifier, drafter, FreshRows<double>(rows.target, proposals), drafts, leaves);
}

}  // namespace draftproof
