// Requests for batches of rows as messages, and the largest replies that they justify.
#pragma once

#include <cstddef>

#include <draftproof/doors/wire/message.hpp>
#include <draftproof/doors/wire/message_reader.hpp>
#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors {

/// What a batch is for.
enum class WireFunction { verify, draft };

/// The request; its tensors lie where the spans of `batch` do.
Message batch_message(const ServedBatch& batch, WireFunction ask);

/// Tokens of a row of the result.
int tokens_a_row(const ServedBatch& batch, WireFunction ask);

/// The largest reply: its arrays, weights of V or n + 1 cells at each place, and room for words.
ReplyLimit reply_limit(const ServedBatch& batch, WireFunction ask);

/// Rows `first` to `first + rows` of `batch`, in its own memory.
ServedBatch slice(const ServedBatch& batch, int first, int rows);

/// Throws: DoorError if a span of `batch` has another size than its shape says. `level` says whether parents are due.
void check_shapes(const ServedBatch& batch, WireFunction ask, Level level, const std::string& place);

/// Bytes of an element.
std::size_t width(Dtype dtype);

}  // namespace draftproof::doors
