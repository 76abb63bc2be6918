// Loops of ratio_histogram.hpp, which each_width.hpp includes for AVX2 and for AVX-512.

/// Writes the masses of `floats` tokens, in the order in which lanes are unpacked, and the byte offsets in the table of
/// the sums to which they are added. A bucket has two sums of 16 bytes; successive tokens are added to them in turn.
template <class Buckets>
DRAFTPROOF_PART void find_buckets(const float* p, const float* q, RatioMass* mass, std::uint32_t* bytes) {
  constexpr int byte_shift = Buckets::shift - 5;
  static_assert((Buckets::lowest_bits >> byte_shift) % 32 == 0);
  const Floats low = all(std::bit_cast<float>(Buckets::lowest_bits));
  const Floats high = all(std::bit_cast<float>(Buckets::end_bits - 1));
  const Floats out = all(std::bit_cast<float>(Buckets::end_bits));
  const Floats a = load_once<Floats>(p), b = load_once<Floats>(q);
  const Floats ratio = min(max(a / b, low), high);  // a NaN becomes a bound
  const Words step = (as<Words>(b > Floats{} ? ratio : out) >> byte_shift) - (Buckets::lowest_bits >> byte_shift);
  store_masses(mass, a, b);
  store(bytes, (step & ~31u) | as<Words>(Longs{} + (std::uint64_t{16} << 32)));
}

/// Adds the masses of `count` tokens, a multiple of 16, to their buckets. Buckets are computed four registers ahead
/// of the additions, so that the two overlap.
template <class Buckets>
DRAFTPROOF_LOOP void add_masses(RatioMass* sums, const float* p, const float* q, std::size_t count) {
  constexpr std::size_t lead = 4 * floats, ring = 2 * lead;
  alignas(64) RatioMass mass[ring];
  alignas(64) std::uint32_t bytes[ring];
  for (std::size_t i = 0; i < count + lead; i += floats) {
    if (i < count) find_buckets<Buckets>(p + i, q + i, mass + i % ring, bytes + i % ring);
    if (i < lead) continue;
    const std::size_t due = (i - lead) % ring;
    detail::drain<floats / 4>(sums, mass + due, bytes + due);
    if (floats == 16) detail::drain<floats / 4>(sums, mass + due + 8, bytes + due + 8);
  }
}
