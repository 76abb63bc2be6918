// Loops that check, sum and normalise a row, with the same results as the scalar functions in stored_row.hpp.
// each_width.hpp includes this file for AVX2 and for AVX-512.

/// Adds the 64 bits of the double 2 + x, as an integer, to `sum` for entries start .. end - 1. Successive doubles in
/// [2, 4] differ by 2^-51, so each integer is a constant plus x rounded to units of 2^-51, and the sum does not depend
/// on the order. Returns whether all of these entries are in [0, 2). Requires: end - start is a multiple of `doubles`.
template <class Row>
DRAFTPROOF_LOOP bool stored_sum(Row row, std::size_t start, std::size_t end, std::uint64_t& sum) {
  const Doubles two = all(2.0), zero{};
  Longs seen{}, bits{};  // the upper two bits of a double are 0 if and only if it is in [0, 2); -0 + 0 is 0
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

/// Writes float(x * factor) for as many entries as fill whole registers; returns their number.
template <class Row>
DRAFTPROOF_LOOP std::size_t scaled(Row row, std::size_t count, double factor, float* out) {
  const std::size_t whole = count / doubles * doubles;
  for (std::size_t i = 0; i < whole; i += doubles) store(out + i, rounded(doubles_at(row, i) * all(factor)));
  return whole;
}
