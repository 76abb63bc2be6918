// Loops of softmax_loops.hpp, which each_width.hpp includes for AVX2 and for AVX-512.

/// The maximum of the entries, and whether all of them are below +infinity.
struct Greatest {
  Floats greatest;
  Words sound;

  DRAFTPROOF_PART static Greatest none() { return {all(-detail::infinite_logit), ~Words{}}; }
  DRAFTPROOF_PART void add(Floats x) {
    greatest = max(greatest, x);
    sound &= as<Words>(x < all(detail::infinite_logit));
  }
  DRAFTPROOF_PART void add(const Greatest& other) {
    greatest = max(greatest, other.greatest);
    sound &= other.sound;
  }
  DRAFTPROOF_PART bool finish(float& result) const {
    result = largest(greatest);
    std::uint32_t every = ~0u;
    for (std::size_t lane = 0; lane < floats; ++lane) every &= sound[lane];
    return every != 0;
  }
};

/// Computes e^((x - greatest) t), and the sums of the bits of the coarse and fine parts of these powers (PowerUnits).
struct Powers {
  Floats greatest, inverse;
  Words coarse, fine;

  DRAFTPROOF_PART static Floats exp_nonpositive(Floats x) {
    using E = PowerOfE;
    const Floats shift = all(E::to_integer), one = all(1.0f);
    const Floats shifted = fma(x, all(E::per_ln2), shift), n = shifted - shift;
    const Floats r = fma(n, all(-E::ln2_low), fma(n, all(-E::ln2_high), x));
    Floats power = fma(all(E::c6), r, all(E::c5));
    power = fma(power, r, all(E::c4));
    power = fma(power, r, all(E::c3));
    power = fma(power, r, all(E::c2));
    power = fma(fma(power, r, one), r, one);
    const Words scaled = as<Words>(power) + (as<Words>(shifted) << 23);
    return x >= all(E::least) ? as<Floats>(scaled) : Floats{};
  }
  DRAFTPROOF_PART Floats of(Floats x) {
    const Floats power = exp_nonpositive((x - greatest) * inverse);
    const Floats one = all(1.0f), split = one + power, rest = power - (split - one);
    coarse += as<Words>(split);
    fine += as<Words>(fma(rest, all(0x1p23f), all(1.5f)));
    return power;
  }
  DRAFTPROOF_PART std::uint64_t sum(std::size_t calls) const {
    std::uint32_t coarse_lanes[floats], fine_lanes[floats];
    store(coarse_lanes, coarse);
    store(fine_lanes, fine);
    return detail::sum_of_lanes(coarse_lanes, fine_lanes, floats, calls);
  }
};

/// Computes the powers of at most a block of logits. Returns whether all logits are below +infinity; if not, writes
/// `greatest` only.
template <class Reader>
DRAFTPROOF_LOOP bool powers_of(Reader logits, std::size_t count, float inverse, float* powers, float& greatest,
                               std::uint64_t& sum) {
  const std::size_t whole = count / floats * floats;
  float rest[floats];
  detail::padded<floats>(logits, whole, count, rest);
  auto even = Greatest::none(), odd = even;
  odd.add(load<Floats>(rest));
  for (std::size_t i = 0; i < whole; i += 2 * floats) {
    even.add(floats_at(logits, i));
    if (i + floats < whole) odd.add(floats_at(logits, i + floats));
  }
  even.add(odd);
  if (!even.finish(greatest)) return false;
  sum = 0;
  if (greatest == -detail::infinite_logit) {
    std::fill_n(powers, count, 0.0f);
    return true;
  }
  Powers power{all(greatest), all(inverse), Words{}, Words{}};
  for (std::size_t i = 0; i < whole; i += floats) {
    detail::fetch_next_block(logits, i);
    store(powers + i, power.of(floats_at(logits, i)));
  }
  store(rest, power.of(load<Floats>(rest)));
  std::copy_n(rest, count - whole, powers + whole);
  sum = power.sum(whole / floats + 1);
  return true;
}

/// Writes the powers of e for as many numbers as fill whole registers; returns their number.
DRAFTPROOF_LOOP inline std::size_t powers_of_e(const float* x, std::size_t count, float* powers) {
  const std::size_t whole = count / floats * floats;
  for (std::size_t i = 0; i < whole; i += floats) store(powers + i, Powers::exp_nonpositive(load<Floats>(x + i)));
  return whole;
}

DRAFTPROOF_LOOP inline void scale(float* powers, std::size_t count, float factor, float least) {
  std::size_t i = 0;
  for (; i + floats <= count; i += floats) {
    const auto power = load_once<Floats>(powers + i);
    store(powers + i, (power >= all(least) ? power : Floats{}) * all(factor));
  }
  for (; i < count; ++i) powers[i] = powers[i] >= least ? powers[i] * factor : 0;
}
