// A type that is neither a function of batches nor steps of a chain.
#include <draftproof/properties/components/batch/batch_group.hpp>

namespace draftproof {

struct NoVerify {
  static constexpr ComponentInfo info{.name = "no_verify", .summary = "a mistake", .source = "a test"};

  BatchOutput run(const RaggedBatch&) { return {}; }
};

void no_verify() { register_batch_component<NoVerify>(); }

}  // namespace draftproof
