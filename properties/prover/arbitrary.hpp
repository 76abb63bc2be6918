// Small models for RapidCheck: rc::check and RC_GTEST_PROP accept an Instance or a PathInstance as an argument,
// shrink it by the prover's steps and print it in the form that `draftproof prove --instance` reads.
//
//   rc::gen::arbitrary<PathInstance>()    up to three paths, with and without context
//   path_instances({.most_drafts = 1})    other sizes: one path, stems, branching, fixed trees
//
// Cost: one small model per value; smaller instances are made on demand.
#pragma once

#include <ostream>

#include <rapidcheck.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {

/// Returns a generator of random instances `make(seed, n)`.
template <class I, class Make>
rc::Gen<I> instances_made_by(Make make) {
  return [make](const rc::Random& random, int) {
    auto dice = random;  // `random` is const and a value type, so a copy is advanced
    const std::uint64_t seed = dice.next();
    const auto n = static_cast<int>(dice.next() % 1'000'000);
    return rc::shrinkable::shrinkRecur(make(seed, n),
                                       [](const I& instance) { return rc::seq::fromContainer(shrinks(instance)); });
  };
}

/// Returns a generator of small models within `sizes`.
inline rc::Gen<PathInstance> path_instances(const PathSizes& sizes) {
  return instances_made_by<PathInstance>(
      [sizes](std::uint64_t seed, int n) { return generate_path_instance(seed, n, sizes); });
}

/// RapidCheck calls these functions to print values.
inline void showValue(const Instance& instance, std::ostream& out) { out << instance.text(); }
inline void showValue(const PathInstance& instance, std::ostream& out) { out << instance.text(); }

}  // namespace draftproof

namespace rc {

template <>
struct Arbitrary<draftproof::Instance> {
  static Gen<draftproof::Instance> arbitrary() {
    return draftproof::instances_made_by<draftproof::Instance>(
        [](std::uint64_t seed, int n) { return draftproof::generate_instance(seed, n, 4, false); });
  }
};
template <>
struct Arbitrary<draftproof::PathInstance> {
  static Gen<draftproof::PathInstance> arbitrary() { return draftproof::path_instances({}); }
};

}  // namespace rc
