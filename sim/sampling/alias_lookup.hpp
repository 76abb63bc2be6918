// One draw from the cells of an alias table, wherever they lie: the host's vectors (alias_table.hpp) and a device's
// memory read them by the same few operations.
//
//   cells[x]   share of the cell's own token in 2^-32, above the other token
//   rests[x]   the rest of that share in 2^-64, looked at by ties alone
//
// Cost: one cell, all but always.
#pragma once

#include <cstdint>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

DRAFTPROOF_DEVICE inline Token alias_draw(const std::uint64_t* cells, const std::uint32_t* rests, std::uint64_t size,
                                          std::uint64_t word) {
  const std::uint64_t at = scale(word, size);
  const std::uint64_t within = word * size;  // the fraction of the cell, in 2^-64
  const std::uint64_t cell = cells[at], place = within >> 32, share = cell >> 32;
  const bool own = place == share ? static_cast<std::uint32_t>(within) < rests[at] : place < share;
  return static_cast<Token>(own ? at : cell & 0xffffffffu);
}

}  // namespace draftproof
