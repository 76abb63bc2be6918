#include <draftproof/gpu/stored_batch.hpp>

#include <stdexcept>
#include <string>

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
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("batch: " + what); };
  if (batch.positions < 0) refuse("a negative number of positions");
  if (batch.vocabulary < 1) refuse("an empty vocabulary");
  if (batch.proposals < 1) refuse("no proposal row");
  if (batch.target_stride < 0 || batch.proposal_stride < 0 || batch.proposal_row_stride < 0 || batch.draft_stride < 0)
    refuse("a negative stride");
  if (batch.contents == Contents::logits) {
    if (batch.vocabulary > StoredBatch::most_tokens)
      refuse("got " + std::to_string(batch.vocabulary) + " logits a row, expected at most " +
             std::to_string(StoredBatch::most_tokens));
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
