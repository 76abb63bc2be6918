#include <draftproof/optimum/ratio_scan.hpp>

namespace draftproof {

Optimum iid_optimum(const RatioTable& table, int drafts) {
  Optimum best{1, table.order().size()};  // S empty
  const auto prefix = table.prefix();
  for (std::size_t j = 0; j < prefix.size(); ++j) {
    const double outside = 1 - prefix[j].proposal;
    double all_outside = 1;
    for (int k = 0; k < drafts; ++k) all_outside *= outside;
    const double value = 1 + ((1 - prefix[j].target) - all_outside);
    if (value < best.acceptance) best = {value, j};
  }
  return best;
}

}  // namespace draftproof
