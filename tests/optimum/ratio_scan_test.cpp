// The scan of the ratio table finds the least cut over all token sets, and the value of its set is that cut.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/tests/support/exact.hpp>

namespace draftproof {
namespace {

/// The scan's own error (K + 2) 2^-53, and that of its input: rows as doubles are within 2^-53 + V 2^-62 of the
/// fractions in total variation, and the optimum moves by at most that of p plus K times that of q.
double tolerance(int drafts) { return (2 * drafts + 4) * 0x1p-53; }

RC_GTEST_PROP(RatioScan, IsTheLeastCutOverAllSets, (const Instance& instance)) {
  const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
  Rational least = 1;
  for (std::size_t set = 0; set < std::size_t{1} << p.size(); ++set) {
    Rational in_p = 0, in_q = 0;
    for (std::size_t x = 0; x < p.size(); ++x)
      if (set >> x & 1) {
        in_p += p[x];
        in_q += q[x];
      }
    least = std::min<Rational>(least, in_p + 1 - exact::power(in_q, instance.drafts));
  }
  const RatioTable table(exact::as_doubles(p), exact::as_doubles(q));
  const Optimum found = iid_optimum(table, instance.drafts);
  RC_ASSERT(std::abs(found.acceptance - static_cast<double>(least)) <= tolerance(instance.drafts));

  // The set of the cut: tokens of the order from `cut` on.
  Rational in_p = 0, in_q = 0;
  for (std::size_t j = found.cut; j < table.order().size(); ++j) {
    in_p += p[static_cast<std::size_t>(table.order()[j])];
    in_q += q[static_cast<std::size_t>(table.order()[j])];
  }
  const Rational attained = in_p + 1 - exact::power(in_q, instance.drafts);
  RC_ASSERT(std::abs(static_cast<double>(attained) - found.acceptance) <= tolerance(instance.drafts));
}

TEST(RatioScan, EqualLawsAreAcceptedAlways) {
  const RatioTable table(std::vector<double>{0.25, 0.25, 0.5}, std::vector<double>{0.25, 0.25, 0.5});
  for (const int drafts : {1, 2, 8}) EXPECT_EQ(iid_optimum(table, drafts).acceptance, 1);
}

TEST(RatioScan, DisjointLawsAreNeverAccepted) {
  const RatioTable table(std::vector<double>{0.25, 0.75, 0, 0}, std::vector<double>{0, 0, 0.5, 0.5});
  for (const int drafts : {1, 2, 8}) EXPECT_EQ(iid_optimum(table, drafts).acceptance, 0);
}

}  // namespace
}  // namespace draftproof
