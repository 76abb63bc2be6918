// Loops of power_sums.hpp; each_width.hpp includes them twice.

/// Appends the indices of the entries above `most`; `count` is a multiple of 16.
DRAFTPROOF_LOOP inline void find_large(const float* row, std::size_t count, float most,
                                       std::vector<std::uint32_t>& found) {
  const Floats bound = all(most);
  for (std::size_t i = 0; i < count; i += floats)
    for (std::uint32_t lanes = greater(load<Floats>(row + i), bound); lanes != 0; lanes &= lanes - 1)
      found.push_back(static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

/// Writes, for each of `floats` tokens, r and the byte offset of the two sums of the token's bucket. A token that is
/// not light (0 < q <= most) gets an offset behind all buckets.
template <class Buckets>
DRAFTPROOF_PART void find_light(const float* p, const float* q, float most, double scale, double* light,
                                std::uint32_t* bytes) {
  constexpr int byte_shift = Buckets::shift - 6;
  static_assert((Buckets::lowest_bits >> byte_shift) % 64 == 0);
  const Floats low = all(std::bit_cast<float>(Buckets::lowest_bits));
  const Floats high = all(std::bit_cast<float>(Buckets::end_bits - 1));
  const Floats out = all(std::bit_cast<float>(Buckets::end_bits));
  const Floats a = load_once<Floats>(p), b = load_once<Floats>(q);
  const Floats ratio = min(max(a / b, low), high);  // NaN becomes one of the bounds
  const Floats counted = b > all(most) ? out : ratio;
  const Words step = (as<Words>(b > Floats{} ? counted : out) >> byte_shift) - (Buckets::lowest_bits >> byte_shift);
  for (std::size_t i = 0; i < floats; i += doubles) store(light + i, doubles_at(Reader<float>{q}, i) * all(scale));
  store(bytes, (step & ~63u) | as<Words>(Longs{} + (std::uint64_t{32} << 32)));
}

/// Adds r, r^2, r^3 and r^4 of each light token to the sums of its bucket; `count` is a multiple of 16. find_light runs
/// four registers of tokens ahead of the additions.
template <class Buckets>
DRAFTPROOF_LOOP void add_powers(std::int64_t* sums, const float* p, const float* q, std::size_t count, float most,
                                double scale) {
  constexpr std::size_t lead = 4 * floats, ring = 2 * lead;
  alignas(64) double light[ring];
  alignas(64) std::uint32_t bytes[ring];
  for (std::size_t i = 0; i < count + lead; i += floats) {
    if (i < count) find_light<Buckets>(p + i, q + i, most, scale, light + i % ring, bytes + i % ring);
    if (i < lead) continue;
    const std::size_t due = (i - lead) % ring;
    for (std::size_t j = due; j < due + floats; ++j) detail::add_powers(sums, light + j, bytes[j]);
  }
}
