// The child's side of the wire for programs in C++: speaks frames on two descriptors and calls a Served.
#pragma once

#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// Says hello, then answers requests until `bye` or the end of `input`. Before that standard output is made a copy of
/// standard error, so that what the program prints does not get into the frames; this stays so.
/// Requests are checked: one that Served cannot be given is refused with an error message, as is one on which it throws.
/// Throws: DoorError if the host cannot be reached any more or sends no frame. Cost: no copy of rows: they are
/// read where the host shares them, or from the request.
void serve(Served& served, int input = 0, int output = 1);

}  // namespace draftproof::adapters
