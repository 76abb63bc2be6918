#include <draftproof/optimum/law_optimum.hpp>

#include <stdexcept>
#include <string>

namespace draftproof {

OptimumMethods& OptimumMethods::instance() {
  static OptimumMethods methods;
  return methods;
}

void OptimumMethods::add(std::string_view law, Find find) {
  if (of(law)) throw std::logic_error("two methods for the optimum of " + std::string(law));
  methods_.push_back({law, find});
}

OptimumMethods::Find OptimumMethods::of(std::string_view law) const {
  for (const Method& method : methods_)
    if (method.law == law) return method.find;
  return nullptr;
}

}  // namespace draftproof
