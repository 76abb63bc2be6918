// Counts of a simulation. All counts are integers, so merging them in any order gives the same numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

struct Tally {
  std::uint64_t trials = 0;
  std::uint64_t draft_accepted = 0;  ///< trials that accepted a draft
  std::uint64_t draft_emitted = 0;   ///< trials whose emitted token is among the drafts
  std::uint64_t impossible = 0;      ///< trials that reached a branch of probability zero: a defect, never ignored
  std::array<std::uint64_t, max_drafts> by_draft{};  ///< accepted drafts by their index
  std::vector<std::uint64_t> histogram;              ///< emitted tokens, V counts; empty: tokens are not counted

  /// Returns the counters that add up over parts of a run.
  static auto fields(auto& t) {
    return std::tie(t.trials, t.draft_accepted, t.draft_emitted, t.impossible, t.by_draft, t.histogram);
  }

  /// Counts one trial with its `count` drafts.
  void add(Verdict verdict, const Token* drafts, int count) {
    ++trials;
    if (verdict.token < 0) {
      ++impossible;
      return;
    }
    if (verdict.accepted >= 0) {
      ++draft_accepted;
      ++by_draft[static_cast<std::size_t>(verdict.accepted)];
    }
    bool drafted = false;
    for (int k = 0; k < count; ++k) drafted |= drafts[k] == verdict.token;
    draft_emitted += drafted;
    if (!histogram.empty()) ++histogram[static_cast<std::size_t>(verdict.token)];
  }

  /// Counts `count` trials, whose tuples are `stride` apart in `drafts`. Throws: std::out_of_range for a token or a draft
  /// that does not exist. For speed, no other branch depends on a verdict, because it would be mispredicted, and only a
  /// token that is not the accepted draft is compared with all drafts.
  void add(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, int count) {
    for (int start = 0; start < count; start += batch)
      add_batch(
          verdicts, drafts, lengths, stride, [start](int i) { return start + i; }, std::min(batch, count - start));
  }
  /// Counts the `count` trials whose indices are at `chosen`.
  void add(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, const int* chosen,
           int count) {
    for (int start = 0; start < count; start += batch)
      add_batch(
          verdicts, drafts, lengths, stride, [chosen, start](int i) { return chosen[start + i]; },
          std::min(batch, count - start));
  }

  /// Returns the inconsistency of the counts, or "" if there is none: every trial emits one token or is impossible,
  /// and accepts at most one draft. Shares and distances divide by trials, so they require consistent counts.
  std::string discrepancy() const {
    std::uint64_t cells = 0, accepted = 0;
    for (const std::uint64_t count : histogram) cells += count;
    for (const std::uint64_t count : by_draft) accepted += count;
    if (!histogram.empty() && cells + impossible != trials)
      return "tokens of " + std::to_string(cells) + " of " + std::to_string(trials) + " trials";
    if (accepted != draft_accepted || draft_accepted + impossible > trials || draft_emitted + impossible > trials)
      return std::to_string(accepted) + " accepted drafts, " + std::to_string(draft_accepted) +
             " accepting trials and " + std::to_string(draft_emitted) + " with a drafted token of " +
             std::to_string(trials) + " trials";
    return {};
  }

  Tally& operator+=(const Tally& other) {
    trials += other.trials;
    draft_accepted += other.draft_accepted;
    draft_emitted += other.draft_emitted;
    impossible += other.impossible;
    for (std::size_t k = 0; k < by_draft.size(); ++k) by_draft[k] += other.by_draft[k];
    if (histogram.size() < other.histogram.size()) histogram.resize(other.histogram.size());
    for (std::size_t x = 0; x < other.histogram.size(); ++x) histogram[x] += other.histogram[x];
    return *this;
  }

 private:
  static constexpr int batch = 512;

  template <class Place>
  void add_batch(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, const Place& place,
                 int count) {
    std::uint64_t* const counts = histogram.empty() ? nullptr : histogram.data();
    const auto tokens = histogram.empty() ? std::numeric_limits<Token>::max() : static_cast<Token>(histogram.size());
    // Number of copies of `accepted`: with one copy, each addition would wait for the store of the previous addition.
    constexpr int copies = 4;
    std::uint32_t accepted[copies][max_drafts + 1] = {};  // by index of the draft, from 1; 0: no draft accepted
    std::uint64_t drafted = 0;
    int others[batch], rest = 0;  // trials whose token must be compared with all drafts
    for (int i = 0; i < count; ++i) {
      const int t = place(i);
      const Verdict verdict = verdicts[t];
      if ((verdict.token >= tokens) | (verdict.accepted >= stride)) [[unlikely]]
        throw std::out_of_range("a verdict has token " + std::to_string(verdict.token) + " and draft " +
                                std::to_string(verdict.accepted) +
                                ", expected a token of the vocabulary and one of " + std::to_string(stride) +
                                " drafts");
      if (verdict.token < 0) [[unlikely]] {
        ++impossible;
        continue;
      }
      const int path = std::max(verdict.accepted, none_accepted) + 1;
      ++accepted[i % copies][path];
      const bool equal = (path > 0) & (drafts[t * stride + std::max(path - 1, 0)] == verdict.token);
      drafted += equal;
      others[rest] = t;
      rest += !equal;
      if (counts != nullptr) ++counts[verdict.token];
    }
    for (int i = 0; i < rest; ++i) {
      const int t = others[i];
      bool found = false;
      for (int k = 0; k < lengths[t]; ++k) found |= drafts[t * stride + k] == verdicts[t].token;
      drafted += found;
    }
    trials += static_cast<std::uint64_t>(count);
    draft_emitted += drafted;
    for (std::size_t k = 0; k < by_draft.size(); ++k) {
      std::uint32_t taken = 0;
      for (const auto& copy : accepted) taken += copy[k + 1];
      by_draft[k] += taken;
      draft_accepted += taken;
    }
  }
};

}  // namespace draftproof
