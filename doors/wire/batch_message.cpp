#include <draftproof/doors/wire/batch_message.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof::doors {
namespace {

std::uint64_t extent(int i) { return static_cast<std::uint64_t>(i); }
std::size_t many(int i) { return static_cast<std::size_t>(i); }

template <class T>
void add_list(Message& message, const char* name, std::vector<std::uint64_t> shape, std::span<const T> values) {
  message.tensors.push_back(tensor_of(name, std::move(shape), values));
}

}  // namespace

std::size_t width(Dtype dtype) { return draftproof::width(array_type(dtype)); }

int tokens_a_row(const ServedBatch& batch, WireFunction ask) {
  return batch.drafts_a_row + (ask == WireFunction::verify ? 1 : 0);
}

Message batch_message(const ServedBatch& batch, WireFunction ask) {
  Message message;
  message.fields = {{"type", ask == WireFunction::verify ? "verify" : "draft"},
                    {"vocabulary", batch.vocabulary},
                    {"kind", to_text(batch.kind)},
                    {"randomness", to_text(batch.randomness)}};
  if (ask == WireFunction::draft) message.fields["drafts"] = batch.drafts_a_row;
  const std::uint64_t b = extent(batch.rows), n = extent(batch.drafts_a_row), v = extent(batch.vocabulary);
  const DType dtype = array_type(batch.dtype);
  if (ask == WireFunction::verify)
    message.tensors.push_back({"p", dtype, {b, extent(batch.target_rows), v}, batch.p});
  message.tensors.push_back({"q", dtype, {b, extent(batch.proposal_rows), v}, batch.q});
  if (ask == WireFunction::verify) {
    add_list(message, "drafts", {b, n}, batch.drafts);
    add_list(message, "lengths", {b}, batch.lengths);
    if (!batch.parents.empty()) add_list(message, "parents", {b, n}, batch.parents);
  }
  if (ask == WireFunction::verify && batch.state_size > 0)
    add_list(message, "state", {b, extent(batch.state_size)}, batch.state);
  if (batch.randomness == Randomness::scripted) add_list(message, "tape", {b, extent(batch.places)}, batch.tape);
  if (batch.randomness == Randomness::seeded) add_list(message, "seeds", {b}, batch.seeds);
  return message;
}

ReplyLimit reply_limit(const ServedBatch& batch, WireFunction ask) {
  constexpr std::uint64_t words = std::uint64_t{1} << 20, words_a_row = 256, number = 4, draw = 16, weight = 8;
  const std::uint64_t cells = extent(std::max(batch.vocabulary, batch.drafts_a_row + 1));
  std::uint64_t row =
      number * (extent(tokens_a_row(batch, ask)) + 3) + words_a_row + weight * extent(batch.state_size);
  if (batch.randomness == Randomness::scripted) row += extent(batch.places) * (draw + weight * cells);
  const std::uint64_t frame = words + extent(batch.rows) * row;
  // A number of 32 bits is up to 12 characters with its comma, a double 25, a draw with two names some hundred.
  constexpr std::uint64_t characters_a_byte = 8;
  return {frame, characters_a_byte * frame};
}

ServedBatch slice(const ServedBatch& batch, int first, int rows) {
  ServedBatch part = batch;
  part.rows = rows;
  const auto cut = [&](auto& span, std::size_t a_row) {
    if (!span.empty()) span = span.subspan(many(first) * a_row, many(rows) * a_row);
  };
  const std::size_t law = many(batch.vocabulary) * width(batch.dtype), n = many(batch.drafts_a_row);
  cut(part.p, many(batch.target_rows) * law);
  cut(part.q, many(batch.proposal_rows) * law);
  cut(part.drafts, n);
  cut(part.lengths, 1);
  cut(part.parents, n);
  cut(part.tape, many(batch.places));
  cut(part.seeds, 1);
  cut(part.state, many(batch.state_size));
  return part;
}

void check_shapes(const ServedBatch& batch, WireFunction ask, Level level, const std::string& place) {
  const auto check = [&](std::string_view name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
      throw DoorError(fmt::format("{}: {}: found {} bytes or entries, wanted {}", place, name, found, wanted));
  };
  const bool verify = ask == WireFunction::verify;
  const std::size_t b = many(batch.rows), n = many(batch.drafts_a_row);
  const std::size_t law = many(batch.vocabulary) * width(batch.dtype);
  check("p", batch.p.size(), verify ? b * many(batch.target_rows) * law : 0);
  check("q", batch.q.size(), b * many(batch.proposal_rows) * law);
  check("drafts", batch.drafts.size(), verify ? b * n : 0);
  check("lengths", batch.lengths.size(), verify ? b : 0);
  check("parents", batch.parents.size(), verify && level == Level::tree ? b * n : 0);
  check("tape", batch.tape.size(), batch.randomness == Randomness::scripted ? b * many(batch.places) : 0);
  check("seeds", batch.seeds.size(), batch.randomness == Randomness::seeded ? b : 0);
  check("state", batch.state.size(), verify ? b * many(batch.state_size) : 0);
  const bool single_target = verify && level == Level::position;
  check("rows of p", many(verify ? batch.target_rows : 0), verify ? (single_target ? 1 : n + 1) : 0);
  const bool single_proposal = !verify || (level == Level::position && batch.proposal_rows == 1);
  check("rows of q", many(batch.proposal_rows), single_proposal ? 1 : n);
  for (std::size_t i = 0; i < batch.lengths.size(); ++i)
    if (batch.lengths[i] < 0 || many(batch.lengths[i]) > n)
      throw DoorError(fmt::format("{}: row {}: lengths: found {}, wanted 0 .. {}", place, i, batch.lengths[i], n));
}

}  // namespace draftproof::doors
