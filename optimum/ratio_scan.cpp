#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

Optimum iid_optimum(const RatioTable& table, int drafts) {
  Optimum best{1, table.order().size()};  // S empty
  const auto prefix = table.prefix();
  for (std::size_t j = 0; j < prefix.size(); ++j) {
    const double value = cut_value(prefix[j].target, prefix[j].proposal, drafts);
    if (value < best.acceptance) best = {value, j};
  }
  return best;
}

}  // namespace draftproof
