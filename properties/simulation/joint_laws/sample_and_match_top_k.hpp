// Sample and match on the K most probable tokens of q: draft k is accepted if it is the token drawn from p.
#pragma once

#include <utility>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>

namespace draftproof::joint_laws {

struct SampleAndMatchTopK {
  using Verifier = verifiers::SampleAndMatch;
  static constexpr DraftLaws drafts{"fixed_top_k"};

  static JointRows rows(const RatioTable& table, int count) {
    const auto size = static_cast<std::size_t>(table.vocabulary());
    JointRows rows(static_cast<std::size_t>(count) + 1, std::vector<double>(size));
    for (Token x = 0; x < table.vocabulary(); ++x) rows.back()[static_cast<std::size_t>(x)] = table.target(x);
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
      const auto x = static_cast<std::size_t>(table.kth_most_probable(static_cast<int>(k)));
      std::swap(rows[k][x], rows.back()[x]);
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
