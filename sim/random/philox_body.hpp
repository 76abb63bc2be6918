// Loops of philox_simd.hpp and philox_simd_batch.hpp, which each_width.hpp includes for AVX2 and for AVX-512.

struct PhiloxLanes {
  Longs word0, word1, word2, word3;

  DRAFTPROOF_PART void round(std::uint32_t key0, std::uint32_t key1) {
    const Longs product0 = lower_product(word0, Longs{} + 0xD2511F53u);
    const Longs product1 = lower_product(word2, Longs{} + 0xCD9E8D57u);
    word0 = (product1 >> 32) ^ as<Longs>(Words{} + key0) ^ word1;
    word2 = (product0 >> 32) ^ as<Longs>(Words{} + key1) ^ word3;
    word1 = product1;
    word3 = product0;
  }
  DRAFTPROOF_PART Longs first() const { return joined(word0, word1); }
  DRAFTPROOF_PART Longs second() const { return joined(word2, word3); }
};

template <class... Lanes>
DRAFTPROOF_PART void philox_rounds(std::uint64_t seed, Lanes&... lanes) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    (lanes.round(key0, key1), ...);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

DRAFTPROOF_PART PhiloxLanes philox_slots(const PhiloxRun& run, std::size_t from) {
  static constexpr std::uint64_t ordinals[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Longs none{};
  return {none + run.trial, none + (run.trial >> 32), load<Longs>(ordinals) + (run.slot + from), none + run.purpose};
}

/// Writes the blocks that fill whole pairs of registers; returns their number, at most `count`.
DRAFTPROOF_LOOP inline std::size_t philox_words(const PhiloxRun& run, std::size_t count, std::uint32_t* words) {
  std::size_t done = 0;
  for (; done + 2 * doubles <= count; done += 2 * doubles) {
    auto a = philox_slots(run, done), b = philox_slots(run, done + doubles);
    philox_rounds(run.seed, a, b);
    store_blocks(words + 4 * done, a.first(), a.second());
    store_blocks(words + 4 * (done + doubles), b.first(), b.second());
  }
  return done;
}

/// Writes the blocks of trials, sizeof...(place) full registers at a time; returns the number of trials done.
template <int... place>
DRAFTPROOF_PART int philox_runs(std::integer_sequence<int, place...>, std::uint64_t seed, const std::uint64_t* trials,
                                int count, std::uint32_t slot, std::uint32_t purpose, std::uint64_t* first,
                                std::uint64_t* second) {
  constexpr int run = static_cast<int>(doubles), step = run * static_cast<int>(sizeof...(place));
  const Longs none{};
  int t = 0;
  for (; t + step <= count; t += step) {
    const Longs trial[] = {load<Longs>(trials + t + run * place)...};
    PhiloxLanes lanes[] = {{trial[place], trial[place] >> 32, none + slot, none + purpose}...};
    philox_rounds(seed, lanes[place]...);
    (store(first + t + run * place, lanes[place].first()), ...);
    (store(second + t + run * place, lanes[place].second()), ...);
  }
  return t;
}

/// Writes the blocks of the trials that fill whole registers; returns the number of these trials.
DRAFTPROOF_LOOP inline int philox_fill(std::uint64_t seed, const std::uint64_t* trials, int count, std::uint32_t slot,
                                       std::uint32_t purpose, std::uint64_t* first, std::uint64_t* second) {
  // AVX2 has 16 registers, enough for two runs with their keys and multipliers; AVX-512 has 32, enough for four.
  constexpr std::make_integer_sequence<int, doubles / 2> most;
  const int t = philox_runs(most, seed, trials, count, slot, purpose, first, second);
  constexpr std::integer_sequence<int, 0> one;
  return t + philox_runs(one, seed, trials + t, count - t, slot, purpose, first + t, second + t);
}
