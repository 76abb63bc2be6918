// Blocks dealt to the parts of a run by their measured times: the longest first, each to the part with the least work so
// far. Every process computes the same deal from the same plan.
//
// Cost: n log m for n blocks and m parts. Correctness: a block has one owner. A group that the plan lacks has none, and
// its blocks are divided in turn.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

class BlockDeal {
 public:
  BlockDeal() = default;
  /// `plan` is the document of `draftproof plan`; `parts` > 0. Throws: nlohmann::json::exception if it is no such
  /// document.
  BlockDeal(const nlohmann::json& plan, std::uint64_t parts);

  /// The part that computes this block, if the plan has it.
  std::optional<std::uint64_t> owner(const std::string& group, std::uint64_t block) const;
  bool empty() const { return owners_.empty(); }
  /// Equal for equal deals; empty without one.
  const std::string& identity() const { return identity_; }

 private:
  std::map<std::string, std::vector<std::uint32_t>> owners_{};
  std::string identity_{};
};

}  // namespace draftproof
