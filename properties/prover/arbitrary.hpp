// Instances for RapidCheck: rc::check and RC_GTEST_PROP take an Instance as an argument and shrink it.
#pragma once

#include <ostream>

#include <rapidcheck.h>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {

/// RapidCheck prints values with this.
inline void showValue(const Instance& instance, std::ostream& out) { out << instance.text(); }

}  // namespace draftproof

namespace rc {

template <>
struct Arbitrary<draftproof::Instance> {
  static Gen<draftproof::Instance> arbitrary() {
    return [](const Random& random, int) {
      auto dice = random;  // a value type: the copy is ours to advance
      const std::uint64_t seed = dice.next();
      const auto n = static_cast<int>(dice.next() % 1'000'000);
      return shrinkable::shrinkRecur(draftproof::generate_instance(seed, n, 4, false), [](const auto& instance) {
        return seq::fromContainer(draftproof::shrinks(instance));
      });
    };
  }
};

}  // namespace rc
