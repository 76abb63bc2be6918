#include <draftproof/adapters/declaration.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>

namespace draftproof::adapters {
namespace {

template <class T, std::size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<Level, 3> level_names{
    {{Level::position, "position"}, {Level::chain, "chain"}, {Level::tree, "tree"}}};
constexpr Names<Randomness, 3> randomness_names{
    {{Randomness::scripted, "scripted"}, {Randomness::seeded, "seeded"}, {Randomness::opaque, "opaque"}}};
constexpr Names<Dtype, 4> dtype_names{{{Dtype::float32, "float32"},
                                       {Dtype::float64, "float64"},
                                       {Dtype::float16, "float16"},
                                       {Dtype::bfloat16, "bfloat16"}}};
constexpr Names<Setting, text_setting_count> setting_names{{{Setting::temperature, "temperature"},
                                                            {Setting::top_k, "top_k"},
                                                            {Setting::top_p, "top_p"},
                                                            {Setting::min_p, "min_p"},
                                                            {Setting::repetition_penalty, "repetition_penalty"},
                                                            {Setting::presence_penalty, "presence_penalty"},
                                                            {Setting::frequency_penalty, "frequency_penalty"},
                                                            {Setting::logit_bias, "logit_bias"},
                                                            {Setting::min_tokens, "min_tokens"},
                                                            {Setting::stop, "stop"}}};
constexpr Names<RowKind, 2> kind_names{{{RowKind::probabilities, "probabilities"}, {RowKind::logits, "logits"}}};

constexpr Names<Greedy, 4> greedy_names{
    {{Greedy::no, "no"}, {Greedy::first, "first"}, {Greedy::last, "last"}, {Greedy::any, "any"}}};
constexpr Names<SelectionCut, 3> cut_names{{{SelectionCut::before_verification, "before_verification"},
                                            {SelectionCut::after_with_token, "after_with_token"},
                                            {SelectionCut::after, "after"}}};

template <class T, std::size_t N>
std::string_view name_of(const Names<T, N>& names, T value) {
  return std::find_if(names.begin(), names.end(), [value](const auto& pair) { return pair.first == value; })->second;
}

AdapterError refuse_field(std::string_view field, const std::string& found, std::string_view wanted) {
  return AdapterError(fmt::format("hello: {}: got {}, expected {}", field, found, wanted));
}

constexpr std::size_t longest_text = 100;  ///< of names, in bytes

class HelloReader {
 public:
  explicit HelloReader(const nlohmann::json& hello) : hello_(hello) {}

  const nlohmann::json& required(const char* field, std::string_view wanted) const {
    const auto found = hello_.find(field);
    if (found == hello_.end()) throw refuse_field(field, "nothing", wanted);
    return *found;
  }
  void text(const char* field, std::string& value) const {
    if (const nlohmann::json* found = optional(field)) {
      if (!found->is_string()) throw refuse_field(field, shown_json(*found), "a text");
      value = one_line(found->get<std::string>(), longest_text);
    }
  }
  void flag(const char* field, bool& value) const {
    if (const nlohmann::json* found = optional(field)) {
      if (!found->is_boolean()) throw refuse_field(field, shown_json(*found), "true or false");
      value = found->get<bool>();
    }
  }
  void number(const char* field, int& value, int least, int most) const {
    if (const nlohmann::json* found = optional(field)) {
      // nlohmann::json converts an unsigned number above 2^63 - 1 to a negative number, which is below `least`.
      const auto number = found->is_number_integer() ? found->get<std::int64_t>() : -1;
      const bool good = found->is_number_integer() && number >= least && number <= most;
      if (!good)
        throw refuse_field(field, shown_json(*found), fmt::format("a whole number of {} to {}", least, most));
      value = found->get<int>();
    }
  }
  void share(const char* field, double& value) const {
    if (const nlohmann::json* found = optional(field)) {
      const double number = found->is_number() ? found->get<double>() : -1;
      if (!(number >= 0 && number <= 1)) throw refuse_field(field, shown_json(*found), "a number of 0 to 1");
      value = number;
    }
  }
  template <class T, std::size_t N>
  void name(const char* field, const Names<T, N>& names, T& value) const {
    if (const nlohmann::json* found = optional(field)) value = named(field, names, *found);
  }
  template <class T, std::size_t N>
  void list(const char* field, const Names<T, N>& names, std::vector<T>& values) const {
    const nlohmann::json* found = optional(field);
    if (!found) return;
    if (!found->is_array() || (found->empty() && !values.empty()))
      throw refuse_field(field, shown_json(*found), "a list of " + all_of_them(names));
    values.clear();
    for (const nlohmann::json& entry : *found) values.push_back(named(field, names, entry));
  }

 private:
  const nlohmann::json* optional(const char* field) const {
    const auto found = hello_.find(field);
    return found == hello_.end() ? nullptr : &*found;
  }
  template <class T, std::size_t N>
  static std::string all_of_them(const Names<T, N>& names) {
    std::string all;
    for (const auto& [value, text] : names) all += (all.empty() ? "" : ", ") + std::string(text);
    return all;
  }
  template <class T, std::size_t N>
  static T named(const char* field, const Names<T, N>& names, const nlohmann::json& entry) {
    for (const auto& [value, text] : names)
      if (entry.is_string() && entry.get_ref<const std::string&>() == text) return value;
    throw refuse_field(field, shown_json(entry), "one of " + all_of_them(names));
  }

  const nlohmann::json& hello_;
};

void check_version(const HelloReader& reader) {
  constexpr std::string_view protocol = "draftproof-adapter", before_0_3 = "draftproof-door";
  const nlohmann::json& name = reader.required("protocol", protocol);
  if (!name.is_string() ||
      (name.get_ref<const std::string&>() != protocol && name.get_ref<const std::string&>() != before_0_3))
    throw refuse_field("protocol", shown_json(name), protocol);
  const nlohmann::json& version = reader.required("version", "[1, 0]");
  if (!version.is_array() || version.size() != 2 || !version[0].is_number_integer() ||
      !version[1].is_number_integer())
    throw refuse_field("version", shown_json(version), "two whole numbers, [1, 0]");
  if (version[0] != 1)
    throw refuse_field("version", fmt::format("{}.{}", version[0].dump(), version[1].dump()),
                       "1.x, the version of this program");
}

template <class T>
nlohmann::json texts_of(const std::vector<T>& values) {
  nlohmann::json texts = nlohmann::json::array();
  for (const T value : values) texts.push_back(to_text(value));
  return texts;
}

}  // namespace

std::string_view to_text(Level level) { return name_of(level_names, level); }
std::string_view to_text(Randomness randomness) { return name_of(randomness_names, randomness); }
std::string_view to_text(Dtype dtype) { return name_of(dtype_names, dtype); }
std::string_view to_text(RowKind kind) { return name_of(kind_names, kind); }
std::string_view to_text(Setting setting) { return name_of(setting_names, setting); }

void check_settings(const Declaration& declaration) {
  const auto& settings = declaration.settings;
  if (settings.empty()) return;
  const auto refuse = [](std::string_view found, std::string_view wanted) {
    return AdapterError(fmt::format("settings: got {}, expected {}", found, wanted));
  };
  if (!declaration.has("verify") && !declaration.requests)
    throw refuse("settings without a verify function", "verify, or generate with requests");
  const bool of_texts = std::any_of(settings.begin(), settings.end(),
                                    [](Setting setting) { return static_cast<int>(setting) >= setting_count; });
  if (declaration.has("verify") && declaration.requests)
    throw refuse("verify and requests", "settings of one of the two");
  if (declaration.has("verify") && of_texts)
    throw refuse("a penalty, bias, min_tokens or stop for verify", "temperature, top_k, top_p and min_p alone");
  if (std::set<Setting>(settings.begin(), settings.end()).size() != settings.size())
    throw refuse("a setting twice", "each once");
  if (!declaration.takes(Setting::temperature)) return;
  const Dtype dtype = declaration.dtypes.front();
  if (dtype != Dtype::float32 && dtype != Dtype::float64)
    throw refuse(fmt::format("a temperature for rows of {}", to_text(dtype)), "rows of float32 or float64 first");
}

bool Declaration::takes(Setting setting) const {
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

bool Declaration::can(Randomness wanted) const {
  return std::find(randomness.begin(), randomness.end(), wanted) != randomness.end();
}

bool Declaration::has(std::string_view function) const {
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

std::string shown_json(const nlohmann::json& value) {
  return in_quotes(value.is_string() ? value.get_ref<const std::string&>() : json_text(value));
}

std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Declaration read_declaration(const nlohmann::json& hello) {
  if (!hello.is_object()) throw refuse_field("message", shown_json(hello), "an object");
  const HelloReader reader(hello);
  check_version(reader);
  reader.required("name", "a text");
  Declaration result;
  reader.text("name", result.name);
  reader.text("engine_version", result.version);
  reader.name("level", level_names, result.level);
  reader.text("law", result.draft_sampling);  // the field's name in version 0.2
  reader.text("draft_sampling", result.draft_sampling);
  if (hello["protocol"] == "draftproof-door")
    result.old_names = R"(protocol "draftproof-door" (now "draftproof-adapter"))";
  if (hello.contains("law"))
    result.old_names += (result.old_names.empty() ? "" : ", ") + std::string(R"(field "law" (now "draft_sampling"))");
  reader.list("randomness", randomness_names, result.randomness);
  reader.list("dtypes", dtype_names, result.dtypes);
  reader.list("rows", kind_names, result.rows);
  if (const auto functions = hello.find("functions"); functions != hello.end()) {
    const bool texts =
        functions->is_array() && std::all_of(functions->begin(), functions->end(),
                                             [](const nlohmann::json& entry) { return entry.is_string(); });
    if (!texts) throw refuse_field("functions", shown_json(*functions), "a list of verify, draft, generate, select");
    result.functions = functions->get<std::vector<std::string>>();
  }
  constexpr int most_rows = 1 << 20, most_vocabulary = 1 << 28, most_drafts = 1 << 20, most_bits = 53,
                most_state_size = 1 << 16, most_end_token = 32, most_memory = 3;
  reader.number("most_rows", result.most_rows, 1, most_rows);
  reader.number("fewest_drafts", result.fewest_drafts, 0, most_drafts);
  reader.number("most_drafts", result.most_drafts, 0, most_drafts);
  if (result.most_drafts > 0 && result.most_drafts < result.fewest_drafts)
    throw refuse_field("most_drafts", std::to_string(result.most_drafts),
                       fmt::format("at least fewest_drafts, {}, or 0 for no limit", result.fewest_drafts));
  reader.number("most_vocabulary", result.most_vocabulary, 0, most_vocabulary);
  if (const auto selection = hello.find("selection"); selection != hello.end()) {
    if (!selection->is_object()) throw refuse_field("selection", shown_json(*selection), "an object");
    const HelloReader policy(*selection);
    policy.name("cut", cut_names, result.selection.cut);
    policy.flag("trees", result.selection.trees);
    policy.flag("matching_alone", result.selection.matching_alone);
    if (result.selection.trees && result.selection.cut != SelectionCut::before_verification)
      throw refuse_field("selection", shown_json(*selection), "trees: false, or a cut before verification");
  }
  if (const auto ends = hello.find("end_tokens"); ends != hello.end()) {
    const bool tokens = ends->is_array() && std::all_of(ends->begin(), ends->end(), [](const nlohmann::json& entry) {
                          return entry.is_number_integer() && entry >= 0 && entry < most_end_token;
                        });
    if (!tokens)
      throw refuse_field("end_tokens", shown_json(*ends), fmt::format("a list of tokens below {}", most_end_token));
    result.end_tokens = ends->get<std::vector<std::int32_t>>();
    const std::set<std::int32_t> distinct(result.end_tokens.begin(), result.end_tokens.end());
    if (distinct.size() != result.end_tokens.size())
      throw refuse_field("end_tokens", shown_json(*ends), "each token once");
  }
  reader.number("memory", result.memory, 1, most_memory);
  reader.flag("requests", result.requests);
  if (result.requests && result.memory != 1)
    throw refuse_field("memory", std::to_string(result.memory), "no memory with requests, whose models have a state");
  if (result.requests && !result.has("generate"))
    throw refuse_field("requests", "true", "generate among the functions");
  reader.name("greedy", greedy_names, result.greedy);
  reader.flag("grammar", result.grammar);
  if (result.grammar && result.has("generate") && !result.requests)
    throw refuse_field("grammar", "true with generate", "requests: true, whose messages have the automaton");
  reader.list("settings", setting_names, result.settings);
  if (result.grammar && !result.settings.empty() && result.has("verify"))
    throw refuse_field("settings", shown_json(hello["settings"]), "no settings with grammar for verify");
  check_settings(result);
  reader.flag("ragged", result.ragged);
  reader.flag("deterministic", result.deterministic);
  reader.flag("batch_invariant", result.batch_invariant);
  reader.share("tolerance", result.tolerance);
  reader.number("coin_bits", result.coin_bits, 1, most_bits);
  reader.number("state_size", result.state_size, 0, most_state_size);
  return result;
}

nlohmann::json to_json(const Declaration& declaration) {
  const DeclaredSelection& policy = declaration.selection;
  return {
      {"protocol", "draftproof-adapter"},
      {"version", {1, 0}},
      {"name", declaration.name},
      {"engine_version", declaration.version},
      {"level", to_text(declaration.level)},
      {"draft_sampling", declaration.draft_sampling},
      {"randomness", texts_of(declaration.randomness)},
      {"dtypes", texts_of(declaration.dtypes)},
      {"rows", texts_of(declaration.rows)},
      {"functions", declaration.functions},
      {"most_rows", declaration.most_rows},
      {"fewest_drafts", declaration.fewest_drafts},
      {"most_drafts", declaration.most_drafts},
      {"most_vocabulary", declaration.most_vocabulary},
      {"selection",
       {{"cut", name_of(cut_names, policy.cut)}, {"trees", policy.trees}, {"matching_alone", policy.matching_alone}}},
      {"end_tokens", declaration.end_tokens},
      {"memory", declaration.memory},
      {"requests", declaration.requests},
      {"greedy", name_of(greedy_names, declaration.greedy)},
      {"grammar", declaration.grammar},
      {"settings", texts_of(declaration.settings)},
      {"ragged", declaration.ragged},
      {"deterministic", declaration.deterministic},
      {"batch_invariant", declaration.batch_invariant},
      {"tolerance", declaration.tolerance},
      {"coin_bits", declaration.coin_bits},
      {"state_size", declaration.state_size}};
}

}  // namespace draftproof::adapters
