// Messages as lines of JSON, the beginner's form: one object a line, arrays as nested lists. Frames are two orders of
// magnitude cheaper.
//
//   numbers   the shortest decimals that read back as the same double; a float is printed as the double it equals
//   infinity  1e999 and -1e999, which parsers of JSON read as infinities;  not a number: null
#pragma once

#include <string>
#include <string_view>

#include <draftproof/adapters/wire/message.hpp>

namespace draftproof::adapters {

/// The line, with its line feed. Cost: a decimal for each element.
std::string encode_line(const Message& message);

/// The message in `line`. Lists under the names of the protocol's arrays become tensors: F64 for p, q, tape, target
/// and proposal, I64 for seeds, I32 for the others. Rows of I32 lists may be of unequal lengths: they are padded with
/// -1. Lists under other names stay fields. Throws: DoorError that says `place`.
Message decode_line(std::string_view line, const std::string& place);

}  // namespace draftproof::adapters
