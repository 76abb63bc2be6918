#include <draftproof/gpu/stored_batch.hpp>

#include <stdexcept>
#include <string>

#include <draftproof/gpu/require_at_least.hpp>
#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/distributions/stored_row.hpp>

namespace draftproof::gpu {

std::string describe(const RefusedPosition& refused) {
  const RowFault& fault = refused.fault;
  const bool logits = fault.kind == RowFault::Kind::infinite || fault.kind == RowFault::Kind::masked;
  std::string text = "position " + std::to_string(refused.position) + ": ";
  text += fault.row == 0 ? "target" : "proposal " + std::to_string(fault.row - 1);
  if (logits) text += " logits";
  if (fault.token != no_token) text += ": token " + std::to_string(fault.token);
  switch (fault.kind) {
    case RowFault::Kind::infinite:
      return text + ": got NaN or +infinity, expected a finite logit, or -infinity";
    case RowFault::Kind::masked:
      return text + ": got -infinity for every token, expected a finite logit";
    case RowFault::Kind::probability:
      return text + ": got NaN, a negative number, or 2 and more, expected a probability";
    case RowFault::Kind::sum:
      return text + ": got a sum that its format does not explain, expected probabilities that sum to 1";
  }
  return text;
}

const StoredBatch& checked_shape(const StoredBatch& batch) {
  require_at_least("batch", "positions", batch.positions, 0);
  require_at_least("batch", "vocabulary", batch.vocabulary, 1);
  require_at_least("batch", "proposals", batch.proposals, 1);
  require_at_least("batch", "target_stride", batch.target_stride, 0);
  require_at_least("batch", "proposal_stride", batch.proposal_stride, 0);
  require_at_least("batch", "proposal_row_stride", batch.proposal_row_stride, 0);
  require_at_least("batch", "draft_stride", batch.draft_stride, 0);
  if (batch.contents == Contents::logits) {
    if (batch.vocabulary > StoredBatch::most_tokens)
      throw std::invalid_argument("batch: got " + std::to_string(batch.vocabulary) +
                                  " logits a row, expected at most " + std::to_string(StoredBatch::most_tokens));
    inverse_temperature(batch.temperatures.target);
    inverse_temperature(batch.temperatures.proposal);
  }
  return batch;
}

double sum_tolerance_of(const StoredBatch& batch) {
  const auto vocabulary = static_cast<std::size_t>(batch.vocabulary);
  switch (batch.format) {
    case Format::bfloat16:
      return sum_tolerance<Bfloat16>(vocabulary);
    case Format::float16:
      return sum_tolerance<Half>(vocabulary);
    default:
      return sum_tolerance<float>(vocabulary);
  }
}

}  // namespace draftproof::gpu
