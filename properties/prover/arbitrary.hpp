// Instances for RapidCheck: rc::check and RC_GTEST_PROP accept an Instance as an argument and shrink it.
#pragma once

#include <ostream>

#include <rapidcheck.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {

/// RapidCheck prints values with this function.
inline void showValue(const Instance& instance, std::ostream& out) { out << instance.text(); }

}  // namespace draftproof

namespace rc {

template <>
struct Arbitrary<draftproof::Instance> {
  static Gen<draftproof::Instance> arbitrary() {
    return [](const Random& random, int) {
      auto dice = random;  // `random` is const and a value type, so a copy is advanced
      const std::uint64_t seed = dice.next();
      const auto n = static_cast<int>(dice.next() % 1'000'000);
      return shrinkable::shrinkRecur(draftproof::generate_instance(seed, n, 4, false), [](const auto& instance) {
        return seq::fromContainer(draftproof::shrinks(instance));
      });
    };
  }
};

}  // namespace rc

namespace draftproof {

// Small models of paths for RapidCheck: rc::check and RC_GTEST_PROP accept a PathInstance as an argument, shrink it
// in the prover's steps (instances/shrink_path_instance.cpp) and print it in the form that `draftproof prove
// --instance` reads.
//
//   rc::gen::arbitrary<PathInstance>()    up to three paths, with and without context
//   path_instances({.most_drafts = 1})    other sizes: one path, stems, branching, fixed trees
//
// Cost: one small model a value; smaller instances are made on demand.

/// Random small models within `sizes`.
inline rc::Gen<PathInstance> path_instances(const PathSizes& sizes) {
  return [sizes](const rc::Random& random, int) {
    auto dice = random;  // `random` is const and a value type, so a copy is advanced
    const std::uint64_t seed = dice.next();
    const auto n = static_cast<int>(dice.next() % 1'000'000);
    return rc::shrinkable::shrinkRecur(generate_path_instance(seed, n, sizes), [](const PathInstance& instance) {
      return rc::seq::fromContainer(shrinks(instance));
    });
  };
}

/// RapidCheck prints values with this function.
inline void showValue(const PathInstance& instance, std::ostream& out) { out << instance.text(); }

}  // namespace draftproof

namespace rc {

template <>
struct Arbitrary<draftproof::PathInstance> {
  static Gen<draftproof::PathInstance> arbitrary() { return draftproof::path_instances({}); }
};

}  // namespace rc
