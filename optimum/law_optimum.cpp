#include <draftproof/optimum/law_optimum.hpp>

#include <stdexcept>
#include <string>

namespace draftproof {

OptimumMethods& OptimumMethods::instance() {
  static OptimumMethods methods;
  return methods;
}

void OptimumMethods::add(std::string_view law, Find find, Certain certain) {
  if (method(law)) throw std::logic_error("two methods for the optimum of " + std::string(law));
  methods_.push_back({law, find, certain});
}

OptimumMethods::Find OptimumMethods::of(std::string_view law) const {
  const Method* found = method(law);
  return found ? found->find : nullptr;
}
OptimumMethods::Certain OptimumMethods::certain_of(std::string_view law) const {
  const Method* found = method(law);
  return found ? found->certain : nullptr;
}

const OptimumMethods::Method* OptimumMethods::method(std::string_view law) const {
  for (const Method& one : methods_)
    if (one.law == law) return &one;
  return nullptr;
}

}  // namespace draftproof
