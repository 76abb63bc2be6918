// Steps of a chain, one of which has other arguments than the step that it replaces.
// Note: steps.offset(n, n)
#include <draftproof/properties/components/batch/batch_group.hpp>

namespace draftproof {

struct WrongStep : ChainSteps {
  static constexpr ComponentInfo info{.name = "wrong_step", .summary = "a mistake", .source = "a test"};

  std::int64_t offset(std::int64_t row) const { return row; }
};

void wrong_step() { register_batch_mutant<WrongStep>(); }

}  // namespace draftproof
