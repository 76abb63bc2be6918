// Loops that check, sum and normalise a row; stored_row.hpp says what they compute, in its scalar twins.
// each_width.hpp includes this file twice.

/// Adds the bits of 2 + x for a multiple of `doubles` entries from `start` on; false if one is not in [0, 2).
template <class Row>
DRAFTPROOF_LOOP bool stored_sum(Row row, std::size_t start, std::size_t end, std::uint64_t& sum) {
  const Doubles two = all(2.0), zero{};
  Longs seen{}, bits{};  // of doubles in [0, 2), and of no others, the upper two bits are clear; -0 + 0 is 0
  for (std::size_t i = start; i < end; i += doubles) {
    const Doubles x = doubles_at(row, i);
    seen |= as<Longs>(x + zero);
    bits += as<Longs>(x + two);
  }
  std::uint64_t every = 0;
  for (std::size_t lane = 0; lane < doubles; ++lane) {
    sum += bits[lane];
    every |= seen[lane];
  }
  return every >> 62 == 0;
}

/// float(x factor) of the first multiple of `doubles` entries; returns how many that is.
template <class Row>
DRAFTPROOF_LOOP std::size_t scaled(Row row, std::size_t count, double factor, float* out) {
  const std::size_t whole = count / doubles * doubles;
  for (std::size_t i = 0; i < whole; i += doubles) store(out + i, rounded(doubles_at(row, i) * all(factor)));
  return whole;
}
