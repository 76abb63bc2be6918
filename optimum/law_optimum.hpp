// Methods for the optimum of particular draft laws, by the name of the law. Every file of optimum/laws is one of
// them; a law without a file is left to enumeration.
//
// A file `greedy.hpp` defines, in namespace draftproof::optima,
//
//   struct Greedy {
//     using Drafter = drafters::Greedy;                                              // whose law it is
//     static std::optional<OptimumBounds> find(const RatioTable& table, int drafts); // nothing: cannot here
//     static std::optional<bool> certain(const RatioTable& table, int drafts);       // may be left out: exactly 1?
//   };
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// lower <= alpha* <= upper; equal up to rounding where the method is exact.
struct OptimumBounds {
  double lower, upper;
};

class OptimumMethods {
 public:
  using Find = std::optional<OptimumBounds> (*)(const RatioTable& table, int drafts);

  using Certain = std::optional<bool> (*)(const RatioTable& table, int drafts);

  static OptimumMethods& instance();
  void add(std::string_view law, Find find, Certain certain = nullptr);
  /// Null if the law has no method of its own.
  Find of(std::string_view law) const;
  Certain certain_of(std::string_view law) const;

 private:
  struct Method {
    std::string_view law;
    Find find;
    Certain certain;
  };
  const Method* method(std::string_view law) const;
  std::vector<Method> methods_;
};

template <class Method>
void register_optimum() {
  OptimumMethods::Certain certain = nullptr;
  if constexpr (requires { &Method::certain; }) certain = &Method::certain;
  OptimumMethods::instance().add(Method::Drafter::info.name, &Method::find, certain);
}

}  // namespace draftproof
