// Compares the algorithms of gpu/ on rows of 16-bit entries, with fibers instead of the threads of a CUDA block, with
// FreshRows on the same entries. It compares verdicts of a scheme that uses residuals and of a scheme that also uses
// unseen mass, and residuals of every format to the last bit.
#include <algorithm>
#include <cstdio>
#include <tuple>

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/parity_rows.hpp>
#include <draftproof/tests/support/gpu/register_lockstep_parity.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::parity {
namespace {

constexpr int positions = 60, most_drafts = 4;
constexpr std::uint64_t seed = 5;

/// Rows of every shape, stored as Entry, and drafts drawn from them.
template <class Entry, class D>
struct StoredBatch {
  StoredBatch(int vocabulary, std::uint64_t first_trial) {
    const ParityRows rows(vocabulary, 1, positions, first_trial);
    const auto size = static_cast<std::size_t>(vocabulary);
    entries.reserve(2 * size * positions);
    tokens.resize(positions * most_drafts);
    for (int i = 0; i < positions; ++i) {
      const FreshRows<float> wide = rows.host(i);
      for (Token x = 0; x < vocabulary; ++x) entries.emplace_back(wide.target(x));
      for (Token x = 0; x < vocabulary; ++x) entries.emplace_back(wide.proposal(x));
    }
    batch = {.positions = positions,
             .vocabulary = vocabulary,
             .target = entries.data(),
             .target_stride = 2 * vocabulary,
             .proposal = entries.data() + vocabulary,
             .proposal_stride = 2 * vocabulary,
             .drafts = tokens.data(),
             .draft_stride = most_drafts,
             .seed = seed,
             .first_trial = first_trial};
    for (int i = 0; i < positions; ++i) {
      Philox random(seed, first_trial + static_cast<std::uint64_t>(i), Philox::Role::draft);
      counts.push_back(D{}.draw(host(i), 1 + i % most_drafts, random, tokens.data() + i * most_drafts));
    }
    batch.counts = counts.data();
  }

  FreshRows<Entry> host(int i) const {
    const gpu::RowView<Entry> rows = batch.rows(i);
    const auto size = static_cast<std::size_t>(rows.vocabulary);
    return {std::span(rows.target, size), std::span(rows.proposal, size)};
  }

  std::vector<Entry> entries;
  std::vector<Token> tokens;
  std::vector<std::int32_t> counts;
  gpu::Batch<Entry> batch;
};

struct Compared {
  int decisions = 0, accepted = 0, mismatches = 0;
};

template <class Entry, class V, class D>
void compare(const char* format, Compared& compared) {
  std::uint64_t trial = 0;
  for (const int vocabulary : {2, 33, 1100}) {
    const StoredBatch<Entry, D> drafted(vocabulary, trial += 1000);
    const gpu::BatchVerdicts found = lockstep_verdicts<V>(drafted.batch);
    for (int i = 0; i < positions; ++i) {
      const auto rows = drafted.host(i);
      const auto own_trial = drafted.batch.first_trial + static_cast<std::uint64_t>(i);
      const V verifier{};
      const auto plan = prepare(verifier, rows, drafted.counts[static_cast<std::size_t>(i)]);
      Philox random(seed, own_trial, Philox::Role::verify);
      const Verdict wanted =
          verify(verifier, DraftedPosition(rows, drafted.batch.drafts_at(i), drafted.batch.counts[i]), plan, random);
      const Verdict got = found.verdicts[static_cast<std::size_t>(i)];
      ++compared.decisions;
      compared.accepted += wanted.accepted >= 0;
      if (got.token == wanted.token && got.accepted == wanted.accepted) continue;
      ++compared.mismatches;
      std::printf("%s on %s, V %d, trial %llu: host (%d, %d), lockstep (%d, %d)\n", V::info.name.data(), format,
                  vocabulary, static_cast<unsigned long long>(own_trial), wanted.token, wanted.accepted, got.token,
                  got.accepted);
    }
  }
}

/// Compares masses, slopes and draws of residuals to the last bit, because equal verdicts could hide a differently
/// rounded term. Above b = 2^100 terms are computed in double instead of float.
template <class Entry>
void compare_residuals(const char* format, Compared& compared) {
  const StoredBatch<Entry, drafters::Iid> drafted(1100, 9000);
  for (int i = 0; i < positions; i += 5)
    for (const double b : {0.0, 0.3, 1.0, 1 + 1e-9, 1.7, 0x1p100, 0x1.8p100, 0x1p130}) {
      const auto look = [b](const auto& rows) {
        const auto [mass, slope] = rows.mass_and_slope(b);
        return std::tuple(rows.residual_mass(b), mass, slope, rows.residual(b).draw(0x9E3779B97F4A7C15));
      };
      if (in_lockstep(drafted.batch.rows(i), look) == look(drafted.host(i))) continue;
      ++compared.mismatches;
      std::printf("mismatch: residual of %s, position %d, b = %g\n", format, i, b);
    }
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    using namespace verifiers;
    parity::Compared compared;
    parity::compare<Bfloat16, RecursiveRejection, drafters::Iid>("bf16", compared);
    parity::compare<Half, RecursiveRejectionWor, drafters::WithoutReplacement>("fp16", compared);
    parity::compare_residuals<float>("float", compared);
    parity::compare_residuals<double>("double", compared);
    parity::compare_residuals<Bfloat16>("bf16", compared);
    parity::compare_residuals<Half>("fp16", compared);
    std::printf("stored parity: %d decisions, %d accepted, %d mismatches\n", compared.decisions, compared.accepted,
                compared.mismatches);
    const bool both_ways = 0 < compared.accepted && compared.accepted < compared.decisions;
    return compared.mismatches == 0 && both_ways ? 0 : 1;
  });
}
