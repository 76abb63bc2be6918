// Compares verdicts from logits by teams of fibers with the host's verdicts, for rows of every format that are
// converted on chip or in advance. Also tests the faults of positions whose logits are not a distribution.
#include <bit>
#include <cstdio>
#include <limits>
#include <string>

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/logit_batches.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/stored_lockstep.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::parity {
namespace {

int decisions = 0, accepted = 0, mismatches = 0;

void compare(const char* what, int vocabulary, int position, const Verdict& found, const Verdict& wanted) {
  ++decisions;
  accepted += wanted.accepted >= 0;
  if (found.token == wanted.token && found.accepted == wanted.accepted) return;
  ++mismatches;
  std::printf("%s, V %d, position %d: got (%d, %d), expected (%d, %d)\n", what, vocabulary, position, found.token,
              found.accepted, wanted.token, wanted.accepted);
}

template <class V, class D, class Entry>
void compare_verdicts() {
  for (const int vocabulary : {2, 33, 1025, 2500}) {
    const int positions = vocabulary > 100 ? 14 : 56;
    LogitBatch<Entry, D> drafted(vocabulary, positions, 11 + static_cast<std::uint64_t>(vocabulary));
    gpu::StoredBatch batch = gpu::stored(drafted.batch(), gpu::Contents::logits, drafted.temperatures);
    std::vector<std::uint64_t> faults(static_cast<std::size_t>(positions), gpu::no_fault);
    batch.faults = faults.data();
    const std::vector<float> rows = converted_rows(batch);
    const gpu::Batch<float> converted = gpu::DistinctRows{batch}.converted(rows.data());
    for (int i = 0; i < positions; ++i) {
      const Verdict wanted = drafted.template host_verdict<V>(i);
      compare("on chip", vocabulary, i, verdict_on_chip<V>(batch, i), wanted);
      compare("converted", vocabulary, i, verdict_on_converted<V>(converted, i), wanted);
    }
    for (const std::uint64_t fault : faults) mismatches += fault != gpu::no_fault;
  }
}

void expect(bool held, const std::string& what) {
  if (held) return;
  ++mismatches;
  std::printf("expected %s\n", what.c_str());
}

/// Tests that the conversion of probabilities returns the entries unchanged, also if positions share rows.
template <class Entry>
void compare_probabilities() {
  constexpr int vocabulary = 1500, positions = 3, proposals = 2;
  std::vector<Entry> entries;
  for (int i = 0; i < positions * (1 + proposals); ++i) {
    const auto row = logit_row<Entry>(LogitShape::spread, vocabulary, static_cast<std::uint64_t>(i));
    entries.insert(entries.end(), row.begin(), row.end());
  }
  gpu::StoredBatch batch{.format = gpu::format_of<Entry>, .positions = positions, .vocabulary = vocabulary};
  batch.proposals = proposals;
  batch.target = entries.data();
  batch.proposal = entries.data() + vocabulary;
  batch.target_stride = batch.proposal_stride = vocabulary * (1 + proposals);
  batch.proposal_row_stride = vocabulary;
  const auto same = [&](const gpu::StoredBatch& stored, const char* what) {
    const std::vector<float> rows = converted_rows(stored);
    const gpu::Batch<float> converted = gpu::DistinctRows{stored}.converted(rows.data());
    const auto* const first = static_cast<const Entry*>(stored.target);
    const auto* const proposed = static_cast<const Entry*>(stored.proposal);
    bool equal = true;
    for (int i = 0; i < positions; ++i)
      for (Token x = 0; x < vocabulary; ++x) {
        const gpu::RowView<float> row = converted.rows(i);
        equal &= row.p(x) == static_cast<double>(first[i * stored.target_stride + x]);
        for (int k = 0; k < proposals; ++k)
          equal &= row.q(x, k) ==
                   static_cast<double>(proposed[i * stored.proposal_stride + k * stored.proposal_row_stride + x]);
      }
    expect(equal, std::string("converted entries, ") + what);
  };
  same(batch, "rows of their own");
  batch.proposal_stride = 0;
  same(batch, "shared proposals");
  batch.target_stride = batch.proposal_row_stride = 0;
  same(batch, "one row of each");
}

/// Tests the faults of a NaN in a proposal row and of a target row in which every logit is -infinity.
void expect_faults() {
  using V = verifiers::RecursiveRejection;
  constexpr int vocabulary = 2100, positions = 7;
  LogitBatch<float, drafters::Iid> drafted(vocabulary, positions, 3);
  const Verdict third = drafted.host_verdict<V>(3);
  drafted.logits(2, 1)[1999] = std::numeric_limits<float>::quiet_NaN();
  for (float& logit : drafted.logits(5, 0)) logit = -std::numeric_limits<float>::infinity();
  gpu::StoredBatch batch = gpu::stored(drafted.batch(), gpu::Contents::logits, drafted.temperatures);

  for (const bool on_chip : {true, false}) {
    std::vector<std::uint64_t> faults(positions, gpu::no_fault);
    batch.faults = faults.data();
    const std::vector<float> rows = on_chip ? std::vector<float>() : converted_rows(batch);
    const gpu::Batch<float> converted =
        on_chip ? gpu::Batch<float>() : gpu::DistinctRows{batch}.converted(rows.data());
    const auto verdict = [&](int i) {
      return on_chip ? verdict_on_chip<V>(batch, i) : verdict_on_converted<V>(converted, i);
    };
    expect(verdict(2).token == no_token && verdict(5).token == no_token, "no token where rows are no distribution");
    expect(verdict(3).token == third.token, "the verdict of a position beside them");
    const gpu::RefusedPosition nan{2, gpu::RowFault::of_word(faults[2])},
        masked{5, gpu::RowFault::of_word(faults[5])};
    expect(
        gpu::describe(nan) ==
            "position 2: proposal 0 logits: token 1999: got NaN or +infinity, expected a finite logit, or -infinity",
        "the NaN, found: " + gpu::describe(nan));
    expect(
        gpu::describe(masked) == "position 5: target logits: got -infinity for every token, expected a finite logit",
        "the masked row, found: " + gpu::describe(masked));
    expect(faults[3] == gpu::no_fault, "no fault beside them");
  }
  std::vector<std::uint64_t> faults(positions, gpu::no_fault);
  batch.faults = faults.data();
  batch.target = drafted.logits(5, 0).data();
  batch.target_stride = 0;
  converted_rows(batch);
  for (const std::uint64_t fault : faults)
    expect(fault != gpu::no_fault && gpu::RowFault::of_word(fault).row == 0, "a fault at all that share a row");
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    using namespace verifiers;
    parity::compare_verdicts<RecursiveRejection, drafters::Iid, float>();
    parity::compare_verdicts<KSeq, drafters::Iid, Bfloat16>();
    parity::compare_verdicts<RecursiveRejectionWor, drafters::WithoutReplacement, Half>();
    parity::compare_probabilities<float>();
    parity::compare_probabilities<Bfloat16>();
    parity::compare_probabilities<Half>();
    parity::expect_faults();
    std::printf("logits: %d decisions, %d accepted, %d mismatches\n", parity::decisions, parity::accepted,
                parity::mismatches);
    return parity::mismatches == 0 && 0 < parity::accepted && parity::accepted < parity::decisions ? 0 : 1;
  });
}
