// Methods for the optimum of particular draft samplings, by the name of the distribution. Every struct in
// optimum/distributions is one method; a draft sampling without a method is enumerated.
//
// A header in optimum/distributions defines, in namespace draftproof::optima,
//
//   struct Greedy {
//     using Drafter = drafters::Greedy;                                               // the draft sampling
//     static std::optional<OptimumBounds> find(const RatioTable& table, int drafts);  // nullopt if not applicable
//     static std::optional<bool> certain(const RatioTable& table, int drafts);        // optional: whether alpha* = 1
//   };
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// lower <= alpha* <= upper; equal up to rounding if the method is exact.
struct OptimumBounds {
  double lower, upper;
};

/// The registered methods.
class OptimumMethods {
 public:
  using Find = std::optional<OptimumBounds> (*)(const RatioTable& table, int drafts);

  using Certain = std::optional<bool> (*)(const RatioTable& table, int drafts);

  /// Returns the list of the methods in this process.
  static OptimumMethods& instance();
  /// Throws: std::logic_error if the distribution has a method already.
  void add(std::string_view distribution, Find find, Certain certain = nullptr);
  /// Returns the method for this distribution, null if it has no method.
  Find of(std::string_view distribution) const;
  /// Returns the method's test for an optimum of exactly 1, null if there is no such test.
  Certain certain_of(std::string_view distribution) const;

 private:
  struct Method {
    std::string_view distribution;
    Find find;
    Certain certain;
  };
  const Method* method(std::string_view distribution) const;
  std::vector<Method> methods_;
};

/// Adds `Method` under the name of its drafter. Throws: std::logic_error if the distribution has a method already.
template <class Method>
void register_optimum() {
  OptimumMethods::Certain certain = nullptr;
  if constexpr (requires { &Method::certain; }) certain = &Method::certain;
  OptimumMethods::instance().add(Method::Drafter::info.name, &Method::find, certain);
}

}  // namespace draftproof
