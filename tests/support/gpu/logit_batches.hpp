// Batches of logits with drafts from their proposals, and the host's verdicts on them, for tests on a device and for
// tests with teams of fibers in lockstep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/tests/support/gpu/logit_cases.hpp>

namespace draftproof::parity {

/// A batch with positions of every shape, and 1 .. 4 drafts of draft sampling D at each.
template <class Entry, class D>
class LogitBatch {
 public:
  static constexpr int most_drafts = 4;
  static constexpr Temperatures temperatures{.target = 0.75, .proposal = 1.25};

  LogitBatch(int vocabulary, int positions, std::uint64_t seed)
      : vocabulary_{vocabulary}, tokens_(static_cast<std::size_t>(positions * most_drafts)), rows_{vocabulary} {
    for (int i = 0; i < positions; ++i)
      for (int row = 0; row < 2; ++row) {
        const auto shape = static_cast<LogitShape>(i % static_cast<int>(LogitShape::end));
        const auto logits = logit_row<Entry>(shape, vocabulary, seed + static_cast<std::uint64_t>(2 * i + row));
        entries_.insert(entries_.end(), logits.begin(), logits.end());
        entries_.resize(entries_.size() + padding, Entry(0.0));
      }
    batch_.positions = positions;
    batch_.vocabulary = vocabulary;
    batch_.target = entries_.data();
    batch_.proposal = entries_.data() + apart();
    batch_.target_stride = batch_.proposal_stride = 2 * apart();
    batch_.drafts = tokens_.data();
    batch_.draft_stride = most_drafts;
    batch_.seed = seed;
    for (int i = 0; i < positions; ++i) {
      Philox random(seed, static_cast<std::uint64_t>(i), Philox::Role::draft);
      const int asked = 1 + i % most_drafts;
      // The number of drafts without replacement is at most the number of tokens with q > 0.
      const int drafted = i % static_cast<int>(LogitShape::end) == static_cast<int>(LogitShape::one_token)
                              ? 1
                              : std::min(asked, (vocabulary + 1) / 2);
      counts_.push_back(D{}.draw(host_rows(i), drafted, random, tokens_.data() + i * most_drafts));
    }
    batch_.counts = counts_.data();
  }
  LogitBatch(const LogitBatch&) = delete;
  LogitBatch& operator=(const LogitBatch&) = delete;

  const gpu::Batch<Entry>& batch() const { return batch_; }
  std::span<Entry> logits(int position, int row) {
    return std::span(entries_).subspan(static_cast<std::size_t>((2 * position + row) * apart()),
                                       static_cast<std::size_t>(vocabulary_));
  }

  /// Returns the rows of a position, valid until the next call.
  FreshRows<float> host_rows(int position) {
    return rows_.of(std::span<const Entry>(logits(position, 0)), std::span<const Entry>(logits(position, 1)),
                    temperatures);
  }
  template <class V>
  Verdict host_verdict(int position) {
    const V verifier{};
    const auto rows = host_rows(position);
    const int count = batch_.counts[position];
    const auto plan = prepare(verifier, rows, count);
    Philox random(batch_.seed, static_cast<std::uint64_t>(position), Philox::Role::verify);
    return verify(verifier, DraftedPosition(rows, batch_.drafts_at(position), count), plan, random);
  }

 private:
  static constexpr std::size_t padding = 3;
  std::int64_t apart() const { return vocabulary_ + static_cast<std::int64_t>(padding); }

  int vocabulary_;
  std::vector<Entry> entries_;
  std::vector<Token> tokens_;
  std::vector<std::int32_t> counts_;
  gpu::Batch<Entry> batch_;
  LogitRows rows_;
};

}  // namespace draftproof::parity
