// Reads the draws that the rows of a result report, from tensors or from the lists of JSON Lines.
#pragma once

#include <draftproof/doors/wire/batch_message.hpp>

namespace draftproof::doors {

/// What is wrong with a row of a result.
DoorError row_fault(int row, std::string_view field, std::string_view found, std::string_view wanted);

/// Appends the draws of `batch` to `log`: they are checked against the tape, and weights are finite and >= 0 where
/// `status` is not no_mass. `first` is the number of the first row in messages.
/// Throws: DoorError with row, draw, field, what was found and what was wanted.
void read_log(const Message& reply, const ServedBatch& batch, int coin_bits, int first,
              std::span<const std::int32_t> status, ServedLog& log);

}  // namespace draftproof::doors
