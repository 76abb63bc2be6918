#include <draftproof/properties/components/counter/counter_group.hpp>

#include <fmt/format.h>
#include <stdexcept>

#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

bool CounterCase::valid() const {
  return doublings >= 0 && doublings <= most_doublings && !weights.empty() && valid_weights(weights, weights.size());
}

std::string CounterCase::text() const {
  return fmt::format("counts={} doublings={}", weights_text(weights), doublings);
}

CounterCase CounterCase::parse(std::string_view text) {
  InstanceReader reader(text);
  CounterCase one;
  reader.expect("counts=");
  one.weights = reader.weights();
  one.doublings = reader.named_number("doublings", 0, most_doublings);
  reader.end();
  if (!one.valid())
    throw std::invalid_argument(fmt::format("instance: found \"{}\", wanted counts such as \"{}\"", text, example));
  return one;
}

std::vector<std::vector<int>*> rows_of(CounterCase& one) { return {&one.weights}; }

std::vector<CounterCase> shrinks(const CounterCase& one) {
  Candidates candidates(one);
  for (const int fewer : {one.doublings / 2, one.doublings - 1})
    candidates.add([fewer](CounterCase& candidate) { candidate.doublings = fewer; });
  for (std::size_t x = 0; x < one.weights.size() && one.weights.size() > 1; ++x)
    candidates.add([x](CounterCase& candidate) { drop_token(candidate.weights, x); });
  candidates.add_smaller_weights(one.weights.size());
  return candidates.take();
}

}  // namespace draftproof
