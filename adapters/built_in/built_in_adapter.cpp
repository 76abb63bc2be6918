#include <draftproof/adapters/built_in/built_in_adapter.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <draftproof/adapters/built_in/built_in_verifier.hpp>
#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

namespace {

void say(const std::string& text, char* out, std::size_t size) {
  if (size == 0) return;
  const std::size_t length = std::min(size - 1, text.size());
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

BuiltInOptions options_of(const nlohmann::json& json) {
  BuiltInOptions options;
  options.coin_bits = json.value("coin_bits", options.coin_bits);
  options.seed = json.value("seed", options.seed);
  options.drafter = json.value("drafter", options.drafter);
  if (json.contains("level")) {
    const auto name = json.at("level").get<std::string>();
    for (const Level level : {Level::position, Level::chain, Level::tree})
      if (to_text(level) == name) options.level = level;
    if (!options.level) throw AdapterError("level: got \"" + name + "\", expected position, chain or tree");
  }
  return options;
}

void* create(const char* text, char* error, std::size_t error_size) {
  try {
    const nlohmann::json json = parse_json_object(text, "the options");
    return new BuiltInVerifier(json.value("verifier", ""), options_of(json));
  } catch (const std::exception& failure) {
    say(failure.what(), error, error_size);
    return nullptr;
  }
}

void destroy(void* self) { delete static_cast<BuiltInVerifier*>(self); }

template <class Values>
std::uint32_t bits_of(const Values& values) {
  std::uint32_t bits = 0;
  for (const auto value : values) bits |= DP_BIT(static_cast<unsigned>(value));
  return bits;
}

std::int32_t draft(void* self, const dp_batch* batch, dp_result* result);

std::int32_t describe(void* self, dp_verifier* declared) {
  const Declaration& own = static_cast<BuiltInVerifier*>(self)->declaration();
  declared->name = own.name.c_str();
  declared->version = own.version.c_str();
  declared->draft_sampling = own.draft_sampling.c_str();
  declared->level = static_cast<std::int32_t>(own.level);
  declared->randomness = bits_of(own.randomness);
  declared->fewest_drafts = own.fewest_drafts;
  declared->most_drafts = own.most_drafts;
  declared->tolerance = own.tolerance;
  declared->coin_bits = own.coin_bits;
  declared->state_size = own.state_size;
  declared->draft = own.has("draft") ? draft : nullptr;
  return DP_OK;
}

/// Returns the batch without its randomness, in the types of the wire protocol.
ServedBatch as_served(const dp_batch& batch) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  const std::size_t entry = (batch.dtype == DP_FLOAT64 ? sizeof(double) : sizeof(float)) * at(batch.vocabulary);
  const std::size_t rows = at(batch.rows), n = at(batch.longest);
  const bool verify = batch.drafts != nullptr || batch.p != nullptr;
  const auto bytes = [&](const void* first, std::int32_t count) {
    return std::span(static_cast<const std::byte*>(first), first == nullptr ? 0 : rows * at(count) * entry);
  };
  const auto numbers = [](const std::int32_t* first, std::size_t count) {
    return std::span(first, first == nullptr ? 0 : count);
  };
  return {.rows = batch.rows,
          .vocabulary = batch.vocabulary,
          .drafts_a_row = batch.longest,
          .target_rows = batch.p_rows,
          .proposal_rows = batch.q_rows,
          .state_size = batch.state == nullptr ? 0 : batch.state_size,
          .dtype = static_cast<Dtype>(batch.dtype),
          .kind = static_cast<RowKind>(batch.kind),
          .p = bytes(batch.p, batch.p_rows),
          .q = bytes(batch.q, batch.q_rows),
          .drafts = numbers(batch.drafts, rows * n),
          .lengths = numbers(verify ? batch.lengths : nullptr, rows),
          .parents = numbers(batch.parents, rows * n),
          .state = std::span(batch.state, batch.state == nullptr ? 0 : rows * at(batch.state_size))};
}

std::vector<Token> tokens_of(BuiltInVerifier& verifier, const dp_batch& batch, int row, Philox::Role role,
                             std::span<double> state) {
  const Input input = input_of(as_served(batch), row, verifier.declaration().level);
  const auto decide = [&](Words& words) {
    return role == Philox::Role::draft ? verifier.draft(input.q, batch.longest, words)
                                       : verifier.verify(input, words, state);
  };
  if (batch.randomness == DP_SEEDED && batch.seeds != nullptr) {
    WordsOf words(Philox(verifier.options().seed, batch.seeds[row], role));
    return decide(words);
  }
  if (batch.randomness != DP_SCRIPTED || batch.tape == nullptr || verifier.shared_noise())
    throw RowRefused(RowStatus::unsupported,
                     "got neither a tape nor seeds that the verifier can use, expected one of them");
  const dp_tape& tape = *batch.tape;
  BuiltInWords words([&](int bits, const char* stream) { return tape.uniform(tape.self, row, bits, stream); },
                     verifier.options().coin_bits, role == Philox::Role::draft);
  return decide(words);
}

std::int32_t run(void* self, const dp_batch* batch, dp_result* result, Philox::Role role) noexcept {
  for (std::int32_t row = 0; row < batch->rows; ++row) {
    result->counts[row] = 0;
    try {
      const std::size_t size = result->state == nullptr ? 0 : static_cast<std::size_t>(batch->state_size);
      const std::span state(result->state, static_cast<std::size_t>(batch->rows) * size);
      const std::vector<Token> tokens = tokens_of(*static_cast<BuiltInVerifier*>(self), *batch, row, role,
                                                  state.subspan(static_cast<std::size_t>(row) * size, size));
      std::copy(tokens.begin(), tokens.end(), result->tokens + std::ptrdiff_t{row} * result->stride);
      result->counts[row] = static_cast<std::int32_t>(tokens.size());
      result->status[row] = DP_OK;
    } catch (const RowRefused& refused) {
      result->status[row] = static_cast<std::int32_t>(refused.status());
      say(refused.what(), result->message, result->message_size);
    } catch (const std::exception& error) {
      result->status[row] = DP_FAILED;
      say(error.what(), result->message, result->message_size);
    }
  }
  return DP_OK;
}

std::int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  return run(self, batch, result, Philox::Role::verify);
}

std::int32_t draft(void* self, const dp_batch* batch, dp_result* result) {
  return run(self, batch, result, Philox::Role::draft);
}

const dp_verifier& table() {
  static const dp_verifier adapter = [] {
    dp_verifier made{};
    made.size = sizeof made;
    made.abi = DRAFTPROOF_ADAPTER_ABI;
    made.name = "draftproof";
    made.dtypes = DP_BIT(DP_FLOAT64) | DP_BIT(DP_FLOAT32);
    made.create = create;
    made.destroy = destroy;
    made.describe = describe;
    made.verify = verify;
    return made;
  }();
  return adapter;
}

}  // namespace

const dp_verifier* built_in_adapter(std::uint32_t abi) { return abi == DRAFTPROOF_ADAPTER_ABI ? &table() : nullptr; }

}  // namespace draftproof::adapters
