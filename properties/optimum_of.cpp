#include <draftproof/properties/optimum_of.hpp>

#include <draftproof/optimum/ratio_scan.hpp>
#include <draftproof/optimum/set_law.hpp>

namespace draftproof {

std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  if (drafter.info().shared_proposal_iid) return iid_optimum(table, drafts).acceptance;
  Token tuple[max_drafts];
  if (drafter.info().fixed) {
    Explorer<double> nothing_to_explore;
    const int count = drafter.draw(table, drafts, nothing_to_explore, tuple);
    double mass = 0;
    for (int k = 0; k < count; ++k) mass += table.target(tuple[k]);
    return mass;
  }
  if (table.vocabulary() > 10 || drafts > 4) return std::nullopt;
  const auto sets =
      set_law<double>([&](Explorer<double>& random, Token* out) { return drafter.draw(table, drafts, random, out); });
  std::vector<double> target;
  for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
  return cut_optimum<double>(target, sets);
}

}  // namespace draftproof
