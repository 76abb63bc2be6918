// Reads the answer to a batch and checks every field of it before it is used.
#pragma once

#include <stdexcept>

#include <draftproof/adapters/wire/batch_packer.hpp>

namespace draftproof::adapters {

/// Thrown if the program refused the whole batch, but still runs.
class BatchRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown if the program ended on a request for a text or a selection, or refused it. The next request starts it again.
class RequestFailed : public AdapterError {
 public:
  using AdapterError::AdapterError;
};

/// Empties `result` and sizes it for `batch`.
void size_result(const ServedBatch& batch, WireFunction ask, ServedResult& result);

/// Writes the answer to `batch` to the rows of `result` from `first` on. `coin_bits` is the number of bits of a uniform
/// whose draw does not state it. In JSON Lines, rows of tokens may be shorter than the widest row.
/// Throws: BatchRefused; ProgramSilent; AdapterError with row, field, found and expected value.
void read_result(const Message& reply, Form form, const ServedBatch& batch, WireFunction ask, int coin_bits,
                 int first, ServedResult& result);

/// Throws: AdapterError unless `reply` is a result; BatchRefused if it is an error, ProgramSilent if it announces
/// that the program stops answering.
void check_reply_type(const Message& reply);

}  // namespace draftproof::adapters
