// A function of batches that returns only tokens.
#include <draftproof/properties/components/batch/batch_group.hpp>

namespace draftproof {

struct WrongOutput {
  static constexpr ComponentInfo info{.name = "wrong_output", .summary = "a mistake", .source = "a test"};

  template <class Random>
  std::vector<Token> verify(const RaggedBatch&, Random&) {
    return {};
  }
};

void wrong_output() { register_batch_component<WrongOutput>(); }

}  // namespace draftproof
