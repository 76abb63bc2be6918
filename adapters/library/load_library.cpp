#include <draftproof/adapters/library/load_library.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/adapters/library/library_table.hpp>

namespace draftproof::adapters {

namespace {

constexpr std::size_t most_words = 1024;

std::string words_of(GuardedBuffer<char>& words) {
  const auto text = words.entries();
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

std::string status_text(std::int32_t status) {
  constexpr std::array<std::string_view, 6> names{"ok",     "bad_input", "unsupported",
                                                  "failed", "no_mass",   "tape_short"};
  const auto known = static_cast<std::size_t>(status) < names.size();
  return known ? fmt::format("{} ({})", status, names[static_cast<std::size_t>(status)]) : fmt::format("{}", status);
}

/// Returns the entries of all rows, one row after another.
template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& rows) {
  std::vector<T> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// The buffers that a library writes in one call.
struct Outputs {
  Outputs(std::size_t rows, std::size_t stride, std::size_t state_size, unsigned char pattern)
      : tokens(rows * stride, pattern),
        counts(rows, pattern),
        status(rows, pattern),
        state(rows * state_size, pattern),
        words(most_words, 0) {}

  GuardedBuffer<std::int32_t> tokens, counts, status;
  GuardedBuffer<double> state;
  GuardedBuffer<char> words;
};

class LoadedLibrary final : public Served {
 public:
  template <class... Place>
  explicit LoadedLibrary(const LibraryOptions& options, const Place&... place) : library_{place..., options.create} {}

  const Declaration& declaration() const override { return library_.declaration(); }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    call("verify", library_.functions().verify, batch, batch.lengths, result);
  }
  void draft(const ServedBatch& batch, ServedResult& result) override {
    const std::vector<std::int32_t> wanted(static_cast<std::size_t>(batch.rows), batch.drafts_a_row);
    call("draft", library_.functions().draft, batch, wanted, result);
  }
  std::vector<std::int32_t> generate(const ServedModels& models) override;
  std::vector<std::vector<std::uint8_t>> select(const ServedSelection& selection) override;

 private:
  using Function = std::int32_t (*)(void*, const dp_batch*, dp_result*);

  void call(std::string_view name, Function function, const ServedBatch& batch, std::span<const std::int32_t> lengths,
            ServedResult& result);
  void read(const ServedBatch& batch, std::span<const std::int32_t> lengths, const LibraryTapes& tapes, Outputs& out,
            ServedResult& result) const;
  void expect(bool good, std::string_view function, std::string_view found, std::string_view wanted) const {
    if (!good)
      throw AdapterError(
          fmt::format("library {}: {}: got {}, expected {}", library_.path(), function, found, wanted));
  }

  LibraryTable library_;
  unsigned char pattern_ = 0x5A;
};

void LoadedLibrary::call(std::string_view name, Function function, const ServedBatch& batch,
                         std::span<const std::int32_t> lengths, ServedResult& result) {
  expect(function != nullptr, name, "NULL in the table of functions", "a function");
  const LibraryTable* const device = library_.on_device() ? &library_ : nullptr;
  const LibraryInput p(batch.p, device), q(batch.q, device);
  const LibraryInput drafts(std::as_bytes(batch.drafts)), wanted(std::as_bytes(lengths)),
      parents(std::as_bytes(batch.parents)), seeds(std::as_bytes(batch.seeds)), state(std::as_bytes(batch.state)),
      legal(std::as_bytes(batch.legal)), settings(std::as_bytes(batch.settings));
  LibraryTapes tapes(batch);
  pattern_ ^= 0xFF;
  Outputs out(static_cast<std::size_t>(batch.rows), static_cast<std::size_t>(result.tokens_a_row),
              static_cast<std::size_t>(result.state_size), pattern_);

  dp_batch in{};
  in.size = sizeof in;
  in.rows = batch.rows;
  in.vocabulary = batch.vocabulary;
  in.longest = batch.drafts_a_row;
  in.p_rows = batch.target_rows;
  in.q_rows = batch.proposal_rows;
  in.kind = static_cast<std::int32_t>(batch.kind);
  in.dtype = static_cast<std::int32_t>(batch.dtype);
  in.randomness = static_cast<std::int32_t>(batch.randomness);
  in.device = {device != nullptr ? DP_CUDA : DP_CPU, 0};
  in.p = p.as<void>();
  in.q = q.as<void>();
  in.drafts = drafts.as<std::int32_t>();
  in.lengths = wanted.as<std::int32_t>();
  in.parents = parents.as<std::int32_t>();
  if (batch.randomness == Randomness::seeded) in.seeds = seeds.as<std::uint64_t>();
  if (batch.randomness == Randomness::scripted) in.tape = tapes.callbacks();
  in.state_size = batch.state_size;
  in.state = state.as<double>();
  in.legal = legal.as<std::int32_t>();
  in.settings = settings.as<double>();
  dp_result answer{sizeof(dp_result), result.tokens_a_row, out.tokens.data(), out.counts.data(),
                   out.status.data(), out.words.data(),    most_words,        nullptr};
  if (result.state_size > 0) answer.state = out.state.data();
  const std::int32_t status = function(library_.self(), &in, &answer);

  expect(
      out.tokens.intact() && out.counts.intact() && out.status.intact() && out.state.intact() && out.words.intact(),
      name, "a write outside the buffers of the result", "writes inside them");
  expect(p.unchanged() && q.unchanged() && drafts.unchanged() && wanted.unchanged() && parents.unchanged() &&
             seeds.unchanged() && state.unchanged() && legal.unchanged() && settings.unchanged(),
         name, "inputs changed by the call", "unchanged inputs");
  expect(tapes.unknown_row() == LibraryTapes::none, name, fmt::format("a draw for row {}", tapes.unknown_row()),
         fmt::format("rows 0 .. {}", batch.rows - 1));
  expect(status == DP_OK, name, fmt::format("status {} \"{}\"", status_text(status), words_of(out.words)), "0");
  read(batch, lengths, tapes, out, result);
}

void LoadedLibrary::read(const ServedBatch& batch, std::span<const std::int32_t> lengths, const LibraryTapes& tapes,
                         Outputs& out, ServedResult& result) const {
  const std::string words = words_of(out.words);
  const bool scripted = batch.randomness == Randomness::scripted;
  const int extra = result.tokens_a_row - batch.drafts_a_row;
  for (int row = 0; row < batch.rows; ++row) {
    const auto i = static_cast<std::size_t>(row);
    if (scripted) result.draws[i] = tapes.row(row).draws();
    if (const RowTape& tape = tapes.row(row); tape.verdict() != RowStatus::ok) {
      result.set(row, tape.verdict(), tape.message());
    } else if (out.status[i] < DP_OK || out.status[i] > DP_TAPE_SHORT) {
      result.set(row, RowStatus::failed, fmt::format("status: got {}, expected 0 .. 5", out.status[i]));
    } else if (out.status[i] != DP_OK) {
      result.set(row, static_cast<RowStatus>(out.status[i]), words);
    } else if (out.counts[i] < 0 || out.counts[i] > lengths[i] + extra) {
      result.set(row, RowStatus::failed,
                 fmt::format("counts: got {}, expected 0 .. {}", out.counts[i], lengths[i] + extra));
    } else {
      result.counts[i] = out.counts[i];
      const std::size_t first = i * static_cast<std::size_t>(result.tokens_a_row);
      for (std::size_t k = 0; k < static_cast<std::size_t>(out.counts[i]); ++k)
        result.tokens[first + k] = out.tokens[first + k];
      const auto state = result.state_of(row);
      for (std::size_t k = 0; k < state.size(); ++k) state[k] = out.state[i * state.size() + k];
    }
  }
}

std::vector<std::int32_t> LoadedLibrary::generate(const ServedModels& models) {
  expect(library_.functions().generate != nullptr, "generate", "NULL in the table of functions", "a function");
  const LibraryInput target(std::as_bytes(models.target)), proposal(std::as_bytes(models.proposal));
  pattern_ ^= 0xFF;
  GuardedBuffer<std::int32_t> tokens(static_cast<std::size_t>(models.length), pattern_);
  GuardedBuffer<char> words(most_words, 0);
  const dp_models in{sizeof(dp_models),
                     models.vocabulary,
                     models.drafts,
                     models.length,
                     static_cast<std::uint64_t>(models.seed),
                     target.as<double>(),
                     proposal.as<double>()};
  dp_text text{sizeof(dp_text), tokens.data(), words.data(), most_words};
  const std::int32_t status = library_.functions().generate(library_.self(), &in, &text);
  expect(tokens.intact() && words.intact(), "generate", "a write outside the text or the message",
         "writes inside them");
  expect(target.unchanged() && proposal.unchanged(), "generate", "inputs changed by the call", "unchanged inputs");
  expect(status == DP_OK, "generate", fmt::format("status {} \"{}\"", status_text(status), words_of(words)), "0");
  return {tokens.entries().begin(), tokens.entries().end()};
}

std::vector<std::vector<std::uint8_t>> LoadedLibrary::select(const ServedSelection& selection) {
  expect(library_.functions().select != nullptr, "select", "NULL in the table of functions", "a function");
  // The arrays of one request: the rows of q and legal one after another, and inputs that the library reads.
  struct Arrays {
    explicit Arrays(const ServedSelection::Request& request)
        : q_rows{joined(request.q)},
          legal_rows{joined(request.legal)},
          tokens(std::as_bytes(std::span(request.drafts))),
          parents(std::as_bytes(std::span(request.parents))),
          q(std::as_bytes(std::span(q_rows))),
          legal(std::as_bytes(std::span(legal_rows))),
          confidence(std::as_bytes(std::span(request.confidence))),
          past_confidence(std::as_bytes(std::span(request.past_confidence))) {}

    bool unchanged() const {
      return tokens.unchanged() && parents.unchanged() && q.unchanged() && legal.unchanged() &&
             confidence.unchanged() && past_confidence.unchanged();
    }

    std::vector<double> q_rows;
    std::vector<std::int32_t> legal_rows;
    LibraryInput tokens, parents, q, legal, confidence, past_confidence;
  };
  std::deque<Arrays> arrays;  // because inputs cannot be moved
  std::vector<dp_drafted> drafted;
  std::size_t drafts = 0;
  for (const ServedSelection::Request& request : selection.requests) {
    const Arrays& given = arrays.emplace_back(request);
    drafted.push_back({.drafts = static_cast<std::int32_t>(request.drafts.size()),
                       .length = static_cast<std::int32_t>(request.past_confidence.size()),
                       .accepted = request.accepted,
                       .tokens = given.tokens.as<std::int32_t>(),
                       .parents = given.parents.as<std::int32_t>(),
                       .q = given.q.as<double>(),
                       .legal = given.legal.as<std::int32_t>(),
                       .confidence = given.confidence.as<double>(),
                       .past_confidence = given.past_confidence.as<double>()});
    drafts += request.drafts.size();
  }
  const LibraryInput cost(std::as_bytes(std::span(selection.cost))), requests(std::as_bytes(std::span(drafted)));
  const dp_selection in{.size = sizeof(dp_selection),
                        .vocabulary = selection.vocabulary,
                        .requests = static_cast<std::int32_t>(drafted.size()),
                        .budget = selection.budget,
                        .costs = static_cast<std::int32_t>(selection.cost.size()),
                        .cost = cost.as<double>(),
                        .request = requests.as<dp_drafted>()};
  pattern_ ^= 0xFF;
  GuardedBuffer<std::int32_t> kept(drafts, pattern_);
  const std::int32_t status = library_.functions().select(library_.self(), &in, kept.data());
  expect(kept.intact(), "select", "a write outside `kept`", "writes inside it");
  expect(cost.unchanged() && requests.unchanged() && std::ranges::all_of(arrays, &Arrays::unchanged), "select",
         "inputs changed by the call", "unchanged inputs");
  expect(status == DP_OK, "select", fmt::format("status {}", status_text(status)), "0");
  std::vector<std::vector<std::uint8_t>> result;
  std::size_t at = 0;
  for (const ServedSelection::Request& request : selection.requests) {
    auto& flags = result.emplace_back();
    for (std::size_t i = 0; i < request.drafts.size(); ++i, ++at) {
      expect(kept[at] == 0 || kept[at] == 1, "select", fmt::format("{} for draft {}", kept[at], i), "0 or 1");
      flags.push_back(static_cast<std::uint8_t>(kept[at]));
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<Served> load_library(const std::string& path, const LibraryOptions& options) {
  return std::make_unique<LoadedLibrary>(options, path);
}

std::unique_ptr<Served> linked_library(const std::string& name, const dp_verifier* (*adapter)(std::uint32_t abi),
                                       const LibraryOptions& options) {
  return std::make_unique<LoadedLibrary>(options, name, adapter);
}

}  // namespace draftproof::adapters
