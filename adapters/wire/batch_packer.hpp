// Batches of rows as requests: their messages, the size limits of replies, the number types of rows, and how calls on
// inputs are packed into the arrays of a batch.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// The function of the program that a batch is sent to.
enum class WireFunction { verify, draft };

/// Calls `each(name, values, extents, due)` for every array of requests, in the order in which they are sent:
/// `values` is the span of `batch`, `extents` are pointers to the members of `batch` that give the shape of a row, and
/// `due` is whether a request of this kind has the array. `parents`: whether the array of parents is sent.
template <class Batch, class Each>
void each_array(Batch& batch, WireFunction ask, bool parents, Each each) {
  using Extents = std::initializer_list<decltype(&batch.rows)>;
  const bool verify = ask == WireFunction::verify;
  each("p", batch.p, Extents{&batch.target_rows, &batch.vocabulary}, verify);
  each("q", batch.q, Extents{&batch.proposal_rows, &batch.vocabulary}, true);
  each("drafts", batch.drafts, Extents{&batch.drafts_a_row}, verify);
  each("lengths", batch.lengths, Extents{}, verify);
  each("parents", batch.parents, Extents{&batch.drafts_a_row}, verify && parents);
  each("legal", batch.legal, Extents{&batch.target_rows, &batch.vocabulary}, verify && batch.grammar);
  each("request_settings", batch.settings, Extents{&batch.settings_size}, verify && batch.settings_size > 0);
  each("state", batch.state, Extents{&batch.state_size}, verify && batch.state_size > 0);
  each("tape", batch.tape, Extents{&batch.places}, batch.randomness == Randomness::scripted);
  each("seeds", batch.seeds, Extents{}, batch.randomness == Randomness::seeded);
}

/// Returns the request as a message whose tensors refer to the spans of `batch`.
Message batch_message(const ServedBatch& batch, WireFunction ask);

/// Returns the largest number of tokens in a row of the result.
int tokens_a_row(const ServedBatch& batch, WireFunction ask);

/// Returns the size of the largest reply: its arrays, weights of V or n + 1 cells for each value of the tape, and space
/// for error messages.
ReplyLimit reply_limit(const ServedBatch& batch, WireFunction ask);

/// Returns rows `first` .. `first + rows - 1` of `batch`. The spans of the result refer to the memory of `batch`.
ServedBatch slice(const ServedBatch& batch, int first, int rows);

/// Throws: AdapterError if the size of a span of `batch` does not fit its shape. `level` decides whether parents are
/// required.
void check_shapes(const ServedBatch& batch, WireFunction ask, Level level, const std::string& place);

/// Returns the size of an element in bytes.
std::size_t width(Dtype dtype);

/// The form in which rows are sent.
struct RowForm {
  Level level = Level::chain;
  Dtype dtype = Dtype::float32;
  RowKind kind = RowKind::probabilities;  ///< logits are natural logarithms; the logit of 0 is minus infinity
  int state_size = 0;                     ///< numbers of a row's state
  bool grammar = false;                   ///< whether rows of p have masks
  bool settings = false;                  ///< whether requests have settings
};

/// Returns the form in which trials send rows: float32 and probabilities if the program declares them, else the first
/// form that it declares.
RowForm form_of_trials(const Declaration& declaration);

/// Writes the V elements of `row` in `form`, from `to` on. Rounds to the dtype, ties to even.
void store_row(std::span<const double> row, const RowForm& form, std::byte* to);

/// Returns the distribution that a program reads from `row` stored in `form`: the entries are rounded, converted back
/// to probabilities, and normalised.
std::vector<double> stored_distribution(std::span<const double> row, const RowForm& form);

/// A batch with its arrays. Rows are rounded to dtype, ties to even.
struct PackedBatch {
  ServedBatch batch{};
  std::vector<std::byte> p, q;
  std::vector<std::int32_t> drafts, lengths, parents, legal;
  std::vector<double> tape, state, settings;
};

/// Throws: AdapterError with the number of the input if it does not have as many rows of p and q as `level` requires,
/// has rows of different lengths, or a state that has neither 0 nor `state_size` numbers.
void check_input(const Input& input, std::size_t number, Level level, int state_size = 0);

/// Fills the rows from `from` up to `to`, which a batch row of few drafts does not use, with the distribution `row`
/// rotated by one token. Zeros would hide the mistake of a program that reads these rows: it would accept no draft
/// there, and its answer would be right.
void fill_unused(std::span<const std::byte> row, Dtype dtype, std::byte* from, const std::byte* to);

/// Packs `calls[i]` for all i of `chosen` into rows 0, 1, ..; their inputs must have passed check_input() and have
/// one vocabulary. An input without a state begins with zeros. Shorter tapes are padded with zeros; the log shows if
/// a program reads beyond the end of its tape. Cost: a pass over the rows; successive calls on the same input share one
/// conversion.
void pack_calls(std::span<const Input> inputs, std::span<const Call> calls, std::span<const std::size_t> chosen,
                const RowForm& form, PackedBatch& packed);

/// Returns the bytes that a row takes in a batch of inputs like `input`, its share of the largest reply included.
std::size_t bytes_a_row(const Input& input, int drafts_a_row, int places, const RowForm& form);

}  // namespace draftproof::adapters
