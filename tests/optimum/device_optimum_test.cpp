// The i.i.d. optimum of the device's code on fibers has the bits of the two scans of the host, and these have not
// changed since host and device share one source.
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/tests/support/gpu/host_laws.hpp>
#include <draftproof/tests/support/gpu/law_rows.hpp>

namespace draftproof {
namespace {

void expect_optima_of_the_host(const std::vector<parity::LawRows>& laws, std::int64_t turn) {
  const std::vector<int> drafts{1, 3, 8};
  const parity::LawBatch<float> batch(laws);
  parity::HostMachine machine(2, 8);
  const parity::HostLaws rows(machine, batch.batch());
  const auto found = parity::host_optima(machine, rows.fixed(), drafts, turn);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const std::vector<double> p(laws[i][0].begin(), laws[i][0].end()), q(laws[i][1].begin(), laws[i][1].end());
    const RatioTable table(p, q);
    for (std::size_t k = 0; k < drafts.size(); ++k) {
      const Optimum sorted = iid_optimum(table, drafts[k]), fresh = fresh_iid_optimum(p, q, drafts[k]);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found[k][i].acceptance),
                std::bit_cast<std::uint64_t>(sorted.acceptance));
      ASSERT_EQ(found[k][i].cut, sorted.cut);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found[k][i].acceptance), std::bit_cast<std::uint64_t>(fresh.acceptance));
      ASSERT_EQ(found[k][i].cut, fresh.cut);
    }
  }
}

TEST(DeviceOptimum, EqualsTheScansOfTheHost) {
  for (const int vocabulary : {2, 3, 17, 128, 129, 1000, 5000}) {
    std::vector<parity::LawRows> laws;
    for (int i = 0; i < 2 * parity::law_shapes; ++i)
      laws.emplace_back(vocabulary, 1, static_cast<parity::LawShape>(i % parity::law_shapes),
                        static_cast<std::uint64_t>(i));
    for (const std::int64_t turn : {1, 5, 100}) expect_optima_of_the_host(laws, turn);
  }
}

TEST(DeviceOptimum, EqualsTheScansOfTheHostOnARealVocabulary) {
  expect_optima_of_the_host({parity::LawRows(128256, 1, parity::LawShape::peaked, 3)}, 1);
}

/// The operations of the value of a cut, written out: a change of the shared source must not change a bit of it.
TEST(DeviceOptimum, ReadsTheValueOfACutAsItAlwaysWas) {
  std::uint64_t state = 1;
  const auto next = [&state] { return unit_interval(state = state * 6364136223846793005u + 1442695040888963407u); };
  for (int i = 0; i < 10000; ++i) {
    const double p = next(), q = next();
    volatile double inside = 1 - q, target_inside = 1 - p, power = 1;
    for (int drafts = 0; drafts < 20; ++drafts) {
      volatile const double missed = target_inside - power;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(cut_value(p, q, drafts)), std::bit_cast<std::uint64_t>(1 + missed));
      power = power * inside;
    }
    ASSERT_EQ(truncated_mass(p), static_cast<std::uint64_t>(p * 0x1p62));
  }
}

}  // namespace
}  // namespace draftproof
