// What a simulation counts. All integers, so that merging in any order gives the same numbers.
#pragma once

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
};

}  // namespace draftproof
