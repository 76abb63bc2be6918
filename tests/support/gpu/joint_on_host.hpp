// Joint counts of trials, computed by a plain loop as the reference for a device's counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <draftproof/gpu/simulation/joint_counting.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::parity {

template <class V, class D>
gpu::JointTally joint_on_host(const RatioTable& table, const gpu::TrialRange& range, const gpu::JointCounting& what) {
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  const int vocabulary = table.vocabulary();
  gpu::JointTally joint;
  joint.cells.resize(size(what.paths, vocabulary));
  joint.drafts.resize(size(what.drafts, vocabulary));
  joint.serial_dependence.resize(size(what.groups, what.groups));
  const auto plan = prepare(V{}, table, range.drafts);
  Token before = no_token;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    Token drafts[max_drafts];
    Philox drafting(range.seed, range.first + i, Philox::Role::draft);
    Philox verifying(range.seed, range.first + i, Philox::Role::verify);
    const int length = D{}.draw(table, range.drafts, drafting, drafts);
    const Verdict verdict = verify(V{}, DraftedPosition<RatioTable>(table, drafts, length), plan, verifying);
    joint.tally.add(verdict, drafts, length);
    const Token last = std::exchange(before, verdict.token);
    if (verdict.token < 0) continue;
    const bool own_path = verdict.accepted >= 0 && verdict.accepted < what.paths - 1;
    ++joint.cells[size(own_path ? verdict.accepted : what.paths - 1, vocabulary) +
                  static_cast<std::size_t>(verdict.token)];
    for (int k = 0; k < length && k < what.drafts; ++k)
      ++joint.drafts[size(k, vocabulary) + static_cast<std::size_t>(drafts[k])];
    if (what.groups == 0 || i % 2 == 0 || i / 2 >= what.pairs || last < 0) continue;
    const auto group = [&what](Token x) { return static_cast<int>(what.group[static_cast<std::size_t>(x)]); };
    ++joint.serial_dependence[size(group(last), what.groups) + static_cast<std::size_t>(group(verdict.token))];
  }
  return joint;
}

}  // namespace draftproof::parity
