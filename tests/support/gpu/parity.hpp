// Parity: for the same rows, drafts and counters, a verifier on another machine must emit the host's tokens and accept
// the host's drafts. No mismatch is tolerated, and no test is statistical.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::parity {

using HostRows = FreshRows<float>;

/// Returns the host's verdict on `count` drafts. The random numbers are Philox(seed, trial, verify).
using HostVerdict = std::function<Verdict(const HostRows&, const Token* drafts, int count, Philox)>;
/// Returns the verdicts of a batch in host memory, computed by the machine under test.
using Machine = std::function<gpu::BatchVerdicts(const gpu::Batch<float>&)>;

struct Scheme {
  Info info;
  HostVerdict host;
  Machine machine;
};

/// A draft sampling; `draw` writes at most `drafts` tokens and returns their number.
struct DraftSampling {
  DrafterInfo info;
  std::function<int(const HostRows&, int drafts, Philox, Token* out)> draw;
  /// Returns the tuples of a batch in host memory, drawn by the machine under test.
  std::function<gpu::DraftTuples(const gpu::DraftBatch<float>&)> machine;
};

void add(Scheme scheme);
void add(DraftSampling distribution);

struct Sizes {
  std::vector<int> vocabularies;
  int drafts;     ///< the positions of a batch have 1 .. drafts drafts
  int positions;  ///< positions per batch; there is one batch per scheme, draft sampling and vocabulary
  /// Whether all positions share one pair of rows, for tests with very many positions. All positions then have `drafts`
  /// drafts, and the host uses all of its threads.
  bool one_pair = false;
  std::uint64_t first_trial = 0;
};

/// Runs every registered scheme on every draft sampling that it supports. Prints each mismatch and a summary; returns
/// the number of mismatches, plus 1 if nothing was compared.
int run(const Sizes& sizes);

/// Returns the host's verdict of V, the reference for every machine.
template <class V>
Verdict host_verdict(const HostRows& rows, const Token* drafts, int count, Philox random) {
  const V verifier{};
  const auto plan = prepare(verifier, rows, count);
  return verify(verifier, DraftedPosition(rows, drafts, count), plan, random);
}

}  // namespace draftproof::parity
