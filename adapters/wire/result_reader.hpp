// Reads the answer to a batch and checks every field of it before it is used.
#pragma once

#include <stdexcept>

#include <draftproof/adapters/wire/batch_packer.hpp>

namespace draftproof::adapters {

/// The child refused the whole batch, and lives.
class BatchRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Empties `result` and sizes it for `batch`.
void size_result(const ServedBatch& batch, WireFunction ask, ServedResult& result);

/// Puts the answer to `batch`, which is row `first` and those after it of `result`, in its place. `coin_bits` is that
/// of coins without one. In lines, rows of tokens may be shorter than the widest.
/// Throws: BatchRefused; ProgramSilent; AdapterError with row, field, what was found and what was wanted.
void read_result(const Message& reply, Form form, const ServedBatch& batch, WireFunction ask, int coin_bits,
                 int first, ServedResult& result);

/// Throws: AdapterError unless `reply` is a result; BatchRefused if it is an error, ProgramSilent if it is the last
/// one.
void check_reply_type(const Message& reply);

}  // namespace draftproof::adapters
