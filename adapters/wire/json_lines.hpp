// Messages as lines of JSON, the beginner's form: one object a line, arrays as nested lists. Frames are two orders of
// magnitude cheaper.
//
//   numbers   the shortest decimals that read back as the same double; a float is printed as the double it equals
//   infinity  1e999 and -1e999, which parsers of JSON read as infinities;  not a number: null
#pragma once

#include <string>
#include <string_view>

#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/message.hpp>

namespace draftproof::adapters {

/// The line, with its line feed. Cost: a decimal for each element.
std::string encode_line(const Message& message);

/// The message in `line`. Lists under the names of the protocol's arrays become tensors: F64 for p, q, tape, target
/// and proposal, I64 for seeds, I32 for the others. Rows of I32 lists may be of unequal lengths: they are padded with
/// -1. Lists under other names stay fields. Throws: DoorError that says `place`.
Message decode_line(std::string_view line, const std::string& place);

// Reads the draws that the rows of a result report, from tensors or from the lists of JSON Lines.

/// What is wrong with a row of a result.
DoorError row_fault(int row, std::string_view field, std::string_view found, std::string_view wanted);

/// Appends the draws of `batch` to `log`: they are checked against the tape, and weights are finite and >= 0 where
/// `status` is not no_mass. `first` is the number of the first row in messages.
/// Throws: DoorError with row, draw, field, what was found and what was wanted.
void read_log(const Message& reply, const ServedBatch& batch, int coin_bits, int first,
              std::span<const std::int32_t> status, ServedLog& log);

}  // namespace draftproof::adapters
