// What a simulation counts. All integers, so that merging in any order gives the same numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

struct Tally {
  std::uint64_t trials = 0;
  std::uint64_t flagged = 0;     ///< a draft was accepted
  std::uint64_t members = 0;     ///< the emitted token is among the drafts
  std::uint64_t impossible = 0;  ///< trials that reached a branch of probability zero: a defect, never ignored
  std::array<std::uint64_t, max_drafts> by_draft{};  ///< accepted drafts by their index
  std::vector<std::uint64_t> histogram;              ///< emitted tokens, V counts; empty if not wanted

  void add(Verdict verdict, const Token* drafts, int count) {
    ++trials;
    if (verdict.token < 0) {
      ++impossible;
      return;
    }
    if (verdict.accepted >= 0) {
      ++flagged;
      ++by_draft[static_cast<std::size_t>(verdict.accepted)];
    }
    bool drafted = false;
    for (int k = 0; k < count; ++k) drafted |= drafts[k] == verdict.token;
    members += drafted;
    if (!histogram.empty()) ++histogram[static_cast<std::size_t>(verdict.token)];
  }

  /// The same for `count` trials, whose tuples are `stride` apart. Nothing here branches on a verdict, which is as
  /// good as random: what a batch counts stays in registers, and only trials that need it are held against their
  /// drafts.
  void add(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, int count) {
    int chosen[batch];
    for (int start = 0; start < count; start += batch) {
      const int size = std::min(batch, count - start);
      for (int i = 0; i < size; ++i) chosen[i] = start + i;
      add_batch(verdicts, drafts, lengths, stride, chosen, size);
    }
  }
  /// The same for those of the trials that are chosen.
  void add(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, const int* chosen,
           int count) {
    for (int start = 0; start < count; start += batch)
      add_batch(verdicts, drafts, lengths, stride, chosen + start, std::min(batch, count - start));
  }

  Tally& operator+=(const Tally& other) {
    trials += other.trials;
    flagged += other.flagged;
    members += other.members;
    impossible += other.impossible;
    for (std::size_t k = 0; k < by_draft.size(); ++k) by_draft[k] += other.by_draft[k];
    if (histogram.size() < other.histogram.size()) histogram.resize(other.histogram.size());
    for (std::size_t x = 0; x < other.histogram.size(); ++x) histogram[x] += other.histogram[x];
    return *this;
  }

 private:
  static constexpr int batch = 128;

  void add_batch(const Verdict* verdicts, const Token* drafts, const int* lengths, int stride, const int* chosen,
                 int count) {
    constexpr int copies = 4;  // a count waits for the one before it to be stored
    std::uint32_t accepted[copies][max_drafts + 1] = {};  // by index of the draft, from 1; none at 0
    std::uint64_t drafted = 0;
    int others[batch], rest = 0;  // trials to compare with all their drafts
    for (int i = 0; i < count; ++i) {
      const int t = chosen[i];
      const Verdict verdict = verdicts[t];
      if (verdict.token < 0) [[unlikely]] {
        ++impossible;
        continue;
      }
      const bool flag = verdict.accepted >= 0;
      ++accepted[i % copies][flag ? verdict.accepted + 1 : 0];
      const bool equal = flag & (drafts[t * stride + (flag ? verdict.accepted : 0)] == verdict.token);
      drafted += equal;
      others[rest] = t;
      rest += !equal;
      if (!histogram.empty()) ++histogram[static_cast<std::size_t>(verdict.token)];
    }
    for (int i = 0; i < rest; ++i) {
      const int t = others[i];
      bool found = false;
      for (int k = 0; k < lengths[t]; ++k) found |= drafts[t * stride + k] == verdicts[t].token;
      drafted += found;
    }
    trials += static_cast<std::uint64_t>(count);
    members += drafted;
    for (std::size_t k = 0; k < by_draft.size(); ++k) {
      std::uint32_t taken = 0;
      for (const auto& copy : accepted) taken += copy[k + 1];
      by_draft[k] += taken;
      flagged += taken;
    }
  }
};

}  // namespace draftproof
