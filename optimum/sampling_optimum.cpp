#include <draftproof/optimum/sampling_optimum.hpp>

#include <stdexcept>
#include <string>

namespace draftproof {

OptimumMethods& OptimumMethods::instance() {
  static OptimumMethods methods;
  return methods;
}

void OptimumMethods::add(std::string_view distribution, Find find, Certain certain) {
  if (method(distribution))
    throw std::logic_error("registered twice: a method for the optimum of " + std::string(distribution));
  methods_.push_back({distribution, find, certain});
}

OptimumMethods::Find OptimumMethods::of(std::string_view distribution) const {
  const Method* found = method(distribution);
  return found ? found->find : nullptr;
}
OptimumMethods::Certain OptimumMethods::certain_of(std::string_view distribution) const {
  const Method* found = method(distribution);
  return found ? found->certain : nullptr;
}

const OptimumMethods::Method* OptimumMethods::method(std::string_view distribution) const {
  for (const Method& one : methods_)
    if (one.distribution == distribution) return &one;
  return nullptr;
}

}  // namespace draftproof
