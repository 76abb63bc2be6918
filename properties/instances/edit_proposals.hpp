// The proposals of an instance of either level, edited against their targets.
#pragma once

#include <cstddef>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>

namespace draftproof {

/// Calls `edit(target, proposal)` for every proposal of the position.
template <class Edit>
void edit_proposals(Instance& instance, Edit edit) {
  for (auto& row : instance.proposals) edit(instance.target, row);
}

/// Calls `edit(target, proposal)` for every listed prefix of at least `depth` tokens.
template <class Edit>
void edit_proposals(PathInstance& instance, Edit edit, std::size_t depth = 0) {
  for (auto& [prefix, weights] : instance.rows)
    if (prefix.size() >= depth) edit(weights.target, weights.proposal);
}

}  // namespace draftproof
