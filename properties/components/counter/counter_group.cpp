#include <draftproof/properties/components/counter/counter_group.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

bool CounterCase::valid() const {
  return doublings >= 0 && doublings <= (run > 0 ? most_merged : most_doublings) && run >= 0 && run <= most_run &&
         !weights.empty() && valid_weights(weights, weights.size());
}

std::string CounterCase::text() const {
  return fmt::format("counts={} doublings={}", weights_text(weights), doublings) +
         (run > 0 ? fmt::format(" run={}", run) : "");
}

CounterCase CounterCase::parse(std::string_view text) {
  CounterCase one;
  const auto run = text.find(" run=");  // InstanceReader reads only int
  bool read = true;
  if (run != text.npos) {
    const std::string_view digits = text.substr(run + 5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), one.run);
    read = error == std::errc{} && end == digits.data() + digits.size();
  }
  InstanceReader reader(text.substr(0, run));
  reader.expect("counts=");
  one.weights = reader.weights();
  one.doublings = reader.named_number("doublings", 0, most_doublings);
  reader.end();
  if (!read || !one.valid())
    throw std::invalid_argument(fmt::format("instance: got \"{}\", expected counts such as \"{}\"", text, example));
  return one;
}

std::vector<std::vector<int>*> rows_of(CounterCase& one) { return {&one.weights}; }

std::vector<CounterCase> shrinks(const CounterCase& one) {
  Candidates candidates(one);
  for (const int fewer : {one.doublings / 2, one.doublings - 1})
    candidates.add([fewer](CounterCase& candidate) { candidate.doublings = fewer; });
  for (std::int64_t less = CounterCase::most_run; less > 0; less /= 2)
    candidates.add([less](CounterCase& candidate) { candidate.run -= less; });
  for (std::size_t x = 0; x < one.weights.size() && one.weights.size() > 1; ++x)
    candidates.add([x](CounterCase& candidate) { drop_token(candidate.weights, x); });
  candidates.add_smaller_weights(one.weights.size());
  return candidates.take();
}

std::vector<CounterCase> CounterGroup::cases(std::uint64_t seed, int rounds) {
  std::vector<CounterCase> cases;
  const auto add = [&](int doublings, const auto& run) {
    InstanceRng dice(seed, cases.size());
    CounterCase one{.weights = {}, .doublings = doublings};
    for (int x = dice.between(2, 4); x > 0; --x) one.weights.push_back(dice.between(0, 9));
    repair_weights(one.weights, 1, dice);
    one.run = run(dice);
    cases.push_back(std::move(one));
  };
  for (int n = 0; n < 2 * rounds * (CounterCase::most_doublings + 1); ++n)
    add(n % (CounterCase::most_doublings + 1), [](InstanceRng&) { return std::int64_t{0}; });
  // A cell of b bits that is added to the totals and reset (flushed) every f > 2^b trials overflows in a run of 2^b
  // trials, and an error in flushing shows in a run of 2 f trials. Counting 2^20 trials one by one takes a millisecond.
  for (int log2 = 0; log2 <= 34; ++log2)
    for (const int beside : {-1, 0, 1}) {
      if (beside != 0 && log2 > 20 && log2 < 26) continue;
      add(log2 % 3, [&](InstanceRng&) { return std::max((std::int64_t{1} << log2) + beside, std::int64_t{0}); });
    }
  return cases;
}

}  // namespace draftproof
