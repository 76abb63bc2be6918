// Compares ratio tables and i.i.d. optima, bit for bit, with the host's. The device's code builds them on fibers, with
// sorts and sums of the standard library.
#include <cstdio>
#include <string>
#include <vector>

#include <draftproof/tests/support/gpu/distribution_rows.hpp>
#include <draftproof/tests/support/gpu/host_distributions.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/same_tables.hpp>

namespace draftproof::parity {
namespace {

SameTables all;

std::string place(int vocabulary, DistributionShape shape, std::uint64_t trial) {
  return "V = " + std::to_string(vocabulary) + ", shape " + std::to_string(static_cast<int>(shape)) + ", trial " +
         std::to_string(trial);
}

void compare_table(int vocabulary, int proposals, DistributionShape shape, std::uint64_t trial) {
  const DistributionRows rows(vocabulary, proposals, shape, trial);
  const DistributionBatch<float> batch({rows});
  HostMachine machine = trial == 1 ? HostMachine(1, 32) : HostMachine(2, 4);
  const HostDistributions distributions(machine, batch.batch());
  all.expect(distributions.faults() == std::vector{gpu::no_fault}, "no fault", place(vocabulary, shape, trial));
  const HostBuilt built = host_built(machine, distributions.fixed());
  all.expect_table(rows.table(), built.arrays.view(), built.arrays.hot(), place(vocabulary, shape, trial));
}

/// The row that all positions share, by a stride of 0.
enum class Shared { none, target, proposal };

void compare_optima(int vocabulary, int positions, std::int64_t turn, Shared shared) {
  std::vector<DistributionRows> distributions;
  for (int i = 0; i < positions; ++i) {
    distributions.emplace_back(vocabulary, 1, static_cast<DistributionShape>(i % distribution_shapes),
                               static_cast<std::uint64_t>(i));
    if (shared == Shared::target) distributions.back()[0] = distributions.front()[0];
    if (shared == Shared::proposal) distributions.back()[1] = distributions.front()[1];
  }
  const DistributionBatch<float> batch(distributions);
  gpu::Batch<float> view = batch.batch();
  if (shared == Shared::target) view.target_stride = 0;
  if (shared == Shared::proposal) view.proposal_stride = 0;
  HostMachine machine(3, 4);
  const HostDistributions rows(machine, view);
  const std::vector<int> drafts{1, 2, 4, 32};
  const auto found = host_optima(machine, rows.fixed(), drafts, turn);
  for (int i = 0; i < positions; ++i) {
    const RatioTable table = distributions[static_cast<std::size_t>(i)].table();
    for (std::size_t k = 0; k < drafts.size(); ++k)
      all.expect_optimum(scanned_optimum(table, drafts[k]), found[k][static_cast<std::size_t>(i)],
                         "K = " + std::to_string(drafts[k]) + ", position " + std::to_string(i) +
                             " of V = " + std::to_string(vocabulary));
  }
}

/// Tests that tables of 16-bit rows equal tables of float rows with the same numbers.
template <class Entry>
void compare_format() {
  constexpr int vocabulary = 700;
  for (const DistributionShape shape :
       {DistributionShape::peaked, DistributionShape::one_hot, DistributionShape::geometric}) {
    DistributionRows rows(vocabulary, 2, shape, 5);
    const DistributionBatch<Entry> batch({rows});
    for (int k = 0; k <= 2; ++k)
      for (float& entry : rows[k]) entry = static_cast<float>(static_cast<Entry>(entry));
    HostMachine machine(1, 8);
    const HostDistributions distributions(machine, batch.batch());
    const HostBuilt built = host_built(machine, distributions.fixed());
    all.expect_table(rows.table(), built.arrays.view(), built.arrays.hot(), place(vocabulary, shape, 5) + ", short");
  }
}

/// Tests a table for three drafts whose proposal rows are one stored row.
void compare_repeated_row() {
  DistributionRows rows(900, 3, DistributionShape::zeros, 4);
  rows[2] = rows[3] = rows[1];
  const DistributionBatch<float> batch({rows});
  gpu::Batch<float> view = batch.batch();
  view.proposal_row_stride = 0;
  HostMachine machine(2, 4);
  const HostDistributions distributions(machine, view);
  const HostBuilt built = host_built(machine, distributions.fixed());
  all.expect_table(rows.table(), built.arrays.view(), built.arrays.hot(), "a row three times");
}

void refused() {
  constexpr int vocabulary = 1000;
  const DistributionRows sound(vocabulary, 1, DistributionShape::random, 1);
  DistributionRows much = sound;
  for (float& entry : much[1]) entry *= 1.01f;  // the excess of the sum over 1 is .01, above every entry
  const DistributionBatch<float> batch({sound, much, sound});
  HostMachine machine(2, 4);
  const HostDistributions distributions(machine, batch.batch());
  const gpu::RowFault fault{gpu::RowFault::Kind::sum, 1};
  all.expect(distributions.faults() == std::vector{gpu::no_fault, fault.word(), gpu::no_fault}, "faults",
             "rows of sum 1.01");
  const auto found = host_optima(machine, distributions.fixed(), {2}, 3)[0];
  const Optimum wanted = scanned_optimum(sound.table(), 2);
  all.expect_optimum(wanted, found[0], "before a refused position");
  all.expect_optimum(wanted, found[2], "after a refused position");
  all.expect(found[1].acceptance != found[1].acceptance && found[1].cut == 0, "NaN", "a refused position");
}

void everything() {
  for (const int vocabulary : {1, 2, 3, 5, 64, 511, 513, 1025, 5000})
    for (int shape = 0; shape < distribution_shapes; ++shape)
      for (const std::uint64_t trial : {0u, 1u, 2u})
        compare_table(vocabulary, trial == 2 ? 3 : 1, static_cast<DistributionShape>(shape), trial);
  compare_table(128256, 1, DistributionShape::peaked, 7);
  compare_table(128256, 1, DistributionShape::ties, 8);
  for (const int vocabulary : {1, 2, 7, 512, 1030})
    for (const int turn : {1, 3, 20})
      for (const Shared shared : {Shared::none, Shared::target, Shared::proposal})
        compare_optima(vocabulary, 20, turn, shared);
  compare_optima(8192, distribution_shapes, 4,
                 Shared::none);  // many cuts have exactly the same value, and every run must find the least index
  compare_optima(128256, 2, 2, Shared::none);
  compare_format<Bfloat16>();
  compare_format<Half>();
  compare_repeated_row();
  refused();
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    draftproof::parity::everything();
    return draftproof::parity::all.report("tables built and optima");
  });
}
