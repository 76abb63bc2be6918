#include <draftproof/properties/statistics/sobol.hpp>

#include <bit>
#include <cassert>
#include <cstddef>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {
namespace {

/// The purpose part of the Philox counter, distinct from the purposes that trials, batch sizes of gates and shared
/// noise use, so that no random bits are used twice.
constexpr std::uint32_t scramble_purpose = 0x43000000;

struct Polynomial {
  std::uint32_t bits;  ///< coefficients of the polynomial over GF(2), the constant term in bit 0
  std::array<std::uint32_t, 6> first;
};
constexpr std::array<Polynomial, ScrambledSobol::max_dimensions - 1> polynomials{{{3, {1}},
                                                                                  {7, {1, 3}},
                                                                                  {11, {1, 3, 1}},
                                                                                  {13, {1, 1, 1}},
                                                                                  {19, {1, 1, 3, 3}},
                                                                                  {25, {1, 3, 5, 13}},
                                                                                  {37, {1, 1, 5, 5, 17}},
                                                                                  {41, {1, 1, 5, 5, 5}},
                                                                                  {47, {1, 1, 7, 11, 19}},
                                                                                  {55, {1, 1, 5, 1, 1}},
                                                                                  {59, {1, 1, 1, 3, 11}},
                                                                                  {61, {1, 3, 5, 5, 31}},
                                                                                  {67, {1, 3, 3, 9, 7, 49}},
                                                                                  {91, {1, 1, 1, 15, 21, 21}},
                                                                                  {97, {1, 3, 1, 13, 27, 49}}}};

using Directions = std::array<std::array<std::uint32_t, 32>, ScrambledSobol::max_dimensions>;

Directions all_directions() {
  Directions v{};
  for (unsigned j = 0; j < 32; ++j) v[0][j] = 1;
  for (std::size_t d = 1; d < v.size(); ++d) {
    const Polynomial& polynomial = polynomials[d - 1];
    const auto degree = static_cast<unsigned>(std::bit_width(polynomial.bits)) - 1;
    for (unsigned j = 0; j < 32; ++j) {
      if (j < degree) {
        v[d][j] = polynomial.first[j];
        continue;
      }
      v[d][j] = v[d][j - degree];
      for (unsigned k = 0; k < degree; ++k)
        if ((polynomial.bits >> k) & 1) v[d][j] ^= v[d][j - (degree - k)] << (degree - k);
    }
  }
  for (auto& row : v)
    for (unsigned j = 0; j < 32; ++j) row[j] <<= 31 - j;
  return v;
}

/// The finaliser of splitmix64: every input bit affects each output bit with probability about one half.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
constexpr std::uint64_t hashed(std::uint64_t key, std::uint64_t node) {
  return mixed(key + mixed(node * 0x9E3779B97F4A7C15u));
}

}  // namespace

ScrambledSobol::ScrambledSobol(int dimensions, std::uint64_t seed) {
  assert(dimensions >= 1 && dimensions <= max_dimensions);
  for (int d = 0; d < dimensions; ++d)
    keys_.push_back(philox_pair(seed, static_cast<std::uint64_t>(d), 0, scramble_purpose).first);
}

std::uint32_t ScrambledSobol::digits(int dimension, std::uint64_t index) {
  static const Directions directions = all_directions();
  std::uint32_t digits = 0;
  for (unsigned j = 0; index != 0; ++j, index >>= 1)
    if (index & 1) digits ^= directions[static_cast<std::size_t>(dimension)][j];
  return digits;
}

void ScrambledSobol::point(std::uint64_t index, std::span<std::uint64_t> words) const {
  assert(index >> 32 == 0 && words.size() >= keys_.size());
  for (std::size_t d = 0; d < keys_.size(); ++d) {
    const std::uint64_t plain = digits(static_cast<int>(d), index);
    std::uint64_t flips = 0;
    for (unsigned level = 0; level < 32; ++level) {
      const std::uint64_t node = (std::uint64_t{1} << level) | (plain >> (32 - level));
      flips = flips << 1 | hashed(keys_[d], node) >> 63;
    }
    const std::uint64_t below = hashed(keys_[d], (std::uint64_t{1} << 32) | plain) >> 32;
    words[d] = (plain ^ flips) << 32 | below;
  }
}

}  // namespace draftproof
