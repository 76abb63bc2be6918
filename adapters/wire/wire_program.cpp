#include <draftproof/adapters/wire/wire_program.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include <draftproof/adapters/wire/selection_message.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::size_t first_rows = 64;

template <class T>
T chosen_from(const std::optional<T>& wanted, const std::vector<T>& declared, std::string_view what) {
  if (!wanted) return declared.front();
  if (std::find(declared.begin(), declared.end(), *wanted) != declared.end()) return *wanted;
  std::string all;
  for (const T each : declared) all += (all.empty() ? "" : ", ") + std::string(to_text(each));
  throw AdapterError(
      fmt::format("{}: got {}, expected one that the program declares: {}", what, to_text(*wanted), all));
}

/// Returns a key; calls with equal keys can be in one batch.
std::tuple<int, int, bool> batch_key(const Input& input, const Declaration& declaration) {
  const bool single = declaration.level == Level::position && input.q.size() == 1;
  return {input.vocabulary(), declaration.ragged ? 0 : static_cast<int>(input.drafts.size()), single};
}

std::string beyond_limits(const Input& input, const Declaration& declaration) {
  const auto beyond = [](std::string_view what, std::size_t found, int most) {
    return most > 0 && found > static_cast<std::size_t>(most)
               ? fmt::format("{}: got {}, the program declares at most {}", what, found, most)
               : std::string();
  };
  const std::string drafts = beyond("drafts", input.drafts.size(), declaration.most_drafts);
  return drafts.empty() ? beyond("vocabulary", input.p.front().size(), declaration.most_vocabulary) : drafts;
}

/// Returns the run of a row of `result`, and moves its draws out. `places` is the length of the row's tape.
Run take_run(ServedResult& result, std::size_t row, std::size_t places) {
  const int number = static_cast<int>(row);
  Run run{.status = static_cast<RowStatus>(result.status[row]), .draws = std::move(result.draws[row])};
  const auto text_of = [number](const std::map<int, std::string>& texts) {
    const auto found = texts.find(number);
    return found == texts.end() ? std::string() : found->second;
  };
  run.overwrote = text_of(result.overwrote);
  if (run.draws.size() > places) {  // the run has read beyond its tape, into the padding zeros
    run.draws.resize(places);
    run.status = RowStatus::tape_short;
    return run;
  }
  const auto tokens = result.tokens_of(number).first(static_cast<std::size_t>(result.counts[row]));
  const auto state = result.state_of(number);
  run.tokens.assign(tokens.begin(), tokens.end());
  if (run.status == RowStatus::ok) run.state.assign(state.begin(), state.end());
  run.message = text_of(result.messages);
  return run;
}

}  // namespace

WireProgram::WireProgram(const Address& address, WireOptions options)
    : options_(std::move(options)),
      dialogue_(address, options_),
      form_{.level = declaration().level,
            .dtype = chosen_from(options_.dtype, declaration().dtypes, address.name() + ": dtypes"),
            .kind = chosen_from(options_.kind, declaration().rows, address.name() + ": rows"),
            .state_size = declaration().state_size,
            .grammar = declaration().grammar,
            .settings = !declaration().settings.empty()},
      rows_at_once_(std::min(first_rows, static_cast<std::size_t>(declaration().most_rows))) {}

void WireProgram::require(std::string_view function) const {
  if (!declaration().has(function))
    throw AdapterError(fmt::format("{}: got no function {} in its declaration", declaration().name, function));
}

std::size_t WireProgram::next_batch(std::span<const Input> inputs, std::span<const Call> calls,
                                    std::span<const std::size_t> order, std::size_t most) const {
  const Input& one = inputs[calls[order[0]].input];
  const auto key = batch_key(one, declaration());
  int drafts = 0, places = 0;
  std::size_t rows = 0;
  for (; rows < std::min(order.size(), most); ++rows) {
    const Call& call = calls[order[rows]];
    const Input& input = inputs[call.input];
    if (batch_key(input, declaration()) != key) break;
    drafts = std::max(drafts, static_cast<int>(input.drafts.size()));
    places = std::max(places, static_cast<int>(call.tape.size()));
    if (rows > 0 && (rows + 1) * bytes_a_row(one, drafts, places, form_) > options_.most_bytes) break;
  }
  return rows;
}

void WireProgram::keep_pace(std::size_t rows, double seconds) {
  constexpr double fast = 0.1, slow = 2;
  const auto most = static_cast<std::size_t>(declaration().most_rows);
  if (rows == rows_at_once_ && seconds < fast) rows_at_once_ = std::min(most, 2 * rows_at_once_);
  if (seconds > slow) rows_at_once_ = std::max<std::size_t>(1, rows_at_once_ / 2);
}

void WireProgram::run_calls(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs,
                            bool together) {
  require("verify");
  if (!declaration().can(Randomness::scripted))
    throw AdapterError(declaration().name +
                       ": its declaration does not include scripted randomness, which this call requires");
  std::vector<std::string> refused(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_input(inputs[i], i, form_.level, form_.state_size);
    refused[i] = beyond_limits(inputs[i], declaration());
  }
  std::vector<std::size_t> order;
  order.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (refused[calls[i].input].empty())
      order.push_back(i);
    else
      runs[i] = {.status = RowStatus::unsupported, .message = refused[calls[i].input]};
  }
  const auto key = [&](std::size_t i) { return batch_key(inputs[calls[i].input], declaration()); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (std::span<const std::size_t> left = order; !left.empty();) {
    const auto start = std::chrono::steady_clock::now();
    const auto most = together ? static_cast<std::size_t>(declaration().most_rows) : rows_at_once_;
    const auto chosen = left.first(next_batch(inputs, calls, left, most));
    pack_calls(inputs, calls, chosen, form_, packed_);
    dialogue_.answer(packed_.batch, WireFunction::verify, result_);
    for (std::size_t row = 0; row < chosen.size(); ++row)
      runs[chosen[row]] = take_run(result_, row, calls[chosen[row]].tape.size());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (!together) keep_pace(chosen.size(), time.count());
    left = left.subspan(chosen.size());
  }
}

void WireProgram::ask(const ServedBatch& batch, WireFunction ask, ServedResult& result) {
  require(ask == WireFunction::verify ? "verify" : "draft");
  check_shapes(batch, ask, form_.level, declaration().name);
  if (!declaration().can(batch.randomness))
    throw AdapterError(fmt::format("{}: its declaration does not include {} randomness, which this call requires",
                                   declaration().name, to_text(batch.randomness)));
  dialogue_.answer(batch, ask, result);
}

std::vector<std::vector<Token>> WireProgram::texts(Message request, const ServedModels& models,
                                                   std::span<const int> lengths) {
  require("generate");
  request.fields.update(
      {{"type", "generate"}, {"length", models.length}, {"seed", models.seed}, {"drafts", models.drafts}});
  const std::size_t rows = lengths.size();
  const auto longest = static_cast<std::uint64_t>(*std::max_element(lengths.begin(), lengths.end()));
  constexpr std::uint64_t words = std::uint64_t{1} << 20, number = 4, characters = 12;
  // The limit on the reply has space for texts that are too long, so that the error states their lengths.
  const bool one = models.prompts.empty(), may_end = !declaration().end_tokens.empty();
  const std::uint64_t widest = one ? longest : 2 * longest + 64, numbers = rows * (widest + 1);
  const Message reply = dialogue_.ask(request, {words + number * numbers, words + characters * numbers});
  const Tensor* tokens = reply.find("tokens");
  const bool exact = one && !may_end;
  const bool fits = tokens && tokens->dtype == DType::I32 && tokens->shape.size() == 2 && tokens->shape[0] == rows &&
                    (exact ? tokens->shape[1] == longest : tokens->shape[1] > 0 && tokens->shape[1] <= widest);
  if (!fits)
    throw AdapterError(fmt::format("result: tokens: got {}, expected i32 [{}, {}]{}", array_text(tokens), rows,
                                   widest, exact ? "" : " or fewer tokens"));
  const Tensor* counts = reply.find("counts");
  if (!one && (!counts || counts->dtype != DType::I32 || counts->shape != std::vector<std::uint64_t>{rows}))
    throw AdapterError(fmt::format("result: counts: got {}, expected i32 [{}]", array_text(counts), rows));
  const auto all = tokens->as<Token>();
  const std::size_t width = tokens->shape[1];
  std::vector<std::vector<Token>> texts;
  for (std::size_t row = 0; row < rows; ++row) {
    const int count = one ? static_cast<int>(width) : counts->as<std::int32_t>()[row];
    if (count < 0 || static_cast<std::size_t>(count) > width)
      throw AdapterError(fmt::format("result: counts: entry {}: got {}, expected 0 .. {}", row, count, width));
    const auto text = all.subspan(row * width, static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] < 0 || text[i] >= models.vocabulary)
        throw AdapterError(fmt::format("result: tokens: entry {}: got {}, expected 0 .. {}", row * width + i, text[i],
                                       models.vocabulary - 1));
    texts.emplace_back(text.begin(), text.end());
  }
  return texts;
}

std::vector<Token> WireProgram::generate(const ServedModels& models) {
  const std::vector<std::uint64_t> shape(static_cast<std::size_t>(models.memory) + 1,
                                         static_cast<std::uint64_t>(models.vocabulary));
  const std::uint64_t entries = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  if (models.target.size() != entries || models.proposal.size() != entries || models.length < 1)
    throw AdapterError(
        fmt::format("generate: got tables of {} and {} entries and length {}, expected {} and at least 1",
                    models.target.size(), models.proposal.size(), models.length, entries));
  Message request;
  request.tensors = {tensor_of("target", shape, models.target), tensor_of("proposal", shape, models.proposal)};
  return texts(std::move(request), models, std::array{models.length}).front();
}

std::vector<std::vector<Token>> WireProgram::generate_requests(const ServedModels& models) {
  const auto v = static_cast<std::uint64_t>(models.vocabulary);
  const std::uint64_t entries = models.target.size();
  if (v == 0 || entries == 0 || entries % v != 0 || models.proposal.size() != entries ||
      models.next.size() != entries || models.prompts.empty() || models.lengths.size() != models.prompts.size())
    throw AdapterError(fmt::format(
        "generate: got models of {}, {} and {} entries and {} prompts with {} lengths, expected S V "
        "entries each and a length for each prompt",
        entries, models.proposal.size(), models.next.size(), models.prompts.size(), models.lengths.size()));
  Message request{.fields = {{"prompts", models.prompts}, {"lengths", models.lengths}}};
  if (!models.settings.empty()) request.fields["settings"] = models.settings;
  const std::vector<std::uint64_t> shape{entries / v, v};
  request.tensors = {tensor_of("target", shape, models.target), tensor_of("proposal", shape, models.proposal),
                     tensor_of("next", shape, models.next)};
  if (!models.legal.empty()) {
    const std::vector<std::uint64_t> of_grammar{models.legal.size() / v, v};
    request.tensors.push_back(tensor_of("legal", of_grammar, models.legal));
    request.tensors.push_back(tensor_of("legal_next", of_grammar, models.legal_next));
  }
  return texts(std::move(request), models, models.lengths);
}

std::vector<std::vector<std::uint8_t>> WireProgram::select(const ServedSelection& selection) {
  require("select");
  Message request{.fields = to_fields(selection)};
  constexpr std::uint64_t bytes = std::uint64_t{1} << 20;  // size of a small batch
  return read_kept(dialogue_.ask(request, {bytes, bytes}).fields, selection);
}

}  // namespace draftproof::adapters
