#include <draftproof/adapters/gate/distribution_request.hpp>

#include <algorithm>
#include <cmath>
#include <istream>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>

namespace draftproof::adapters {

namespace {

using Json = nlohmann::json;

/// Returns the JSON value as text for the "got" part of a message.
std::string shown(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return "an object";
  return value.is_string() ? in_quotes(value.get_ref<const std::string&>()) : json_text(value);
}

/// Reads one request; each fault names the file, and the input that is being read.
class Reader {
 public:
  Reader(const std::string& file, const Declaration& declaration) : file_{file}, declaration_{declaration} {}

  DistributionRequest read(const Json& document) {
    if (!document.is_object()) refuse({}, shown(document), "an object with \"inputs\"");
    DistributionRequest request;
    for (const auto& [name, value] : document.items()) {
      if (name == "inputs") continue;
      if (name == "predictions")
        request.predictions = static_cast<int>(whole(value, name, {}, fewest_predictions, most_predictions));
      else if (name == "seed")
        request.seed = static_cast<std::uint64_t>(whole(value, name, {}, 0, INT64_MAX));
      else
        refuse({}, in_quotes(name), "inputs, predictions or seed");
    }
    const Json& inputs = list(document, "inputs");
    if (inputs.empty()) refuse("inputs", "none", "at least one");
    for (const Json& each : inputs) {
      input_ = fmt::format("input {}", request.inputs.size());
      request.inputs.push_back(input(each));
    }
    return request;
  }

 private:
  [[noreturn]] void refuse(std::string_view field, std::string found, std::string wanted,
                           std::optional<std::size_t> row = {}, std::optional<std::size_t> token = {}) const {
    const std::string place =
        field.empty() ? input_ : fmt::format("{}{}{}", input_, input_.empty() ? "" : ": ", field);
    throw InputError({.file = file_,
                      .array = place,
                      .row = row,
                      .token = token,
                      .got = std::move(found),
                      .expected = std::move(wanted)});
  }

  const Json& list(const Json& object, const char* field) const {
    const auto found = object.find(field);
    if (found == object.end()) refuse(field, "nothing", "a list");
    if (!found->is_array()) refuse(field, shown(*found), "a list");
    return *found;
  }

  /// Returns the settings of an object by name; settings that it does not name change nothing.
  Filter given(const Json& object) const {
    if (!object.is_object()) refuse("settings", shown(object), "an object");
    Filter settings;
    for (const auto& [name, value] : object.items()) {
      std::vector<std::string_view> names;
      for (const Setting setting : declaration_.settings) names.push_back(to_text(setting));
      if (std::find(names.begin(), names.end(), name) == names.end())
        refuse("settings", in_quotes(name), fmt::format("one of {}, as declared", fmt::join(names, ", ")));
      if (!value.is_number()) refuse(name, shown(value), "a number");
      if (name == "temperature") settings.temperature = value.get<double>();
      if (name == "top_k") settings.top_k = static_cast<std::size_t>(whole(value, name, {}, 0, INT32_MAX));
      if (name == "top_p") settings.top_p = value.get<double>();
      if (name == "min_p") settings.min_p = value.get<double>();
    }
    check_filter(settings, file_ + ": " + input_);
    return settings;
  }

  std::int64_t whole(const Json& value, std::string_view field, std::optional<std::size_t> entry, std::int64_t least,
                     std::int64_t most) const {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
      refuse(entry ? fmt::format("{}, entry {}", field, *entry) : std::string(field), shown(value),
             fmt::format("{} .. {}", least, most));
    return value.get<std::int64_t>();
  }

  /// Returns rows of one length, which is `vocabulary` unless that is 0.
  std::vector<std::vector<double>> rows(const Json& object, const char* field, std::size_t vocabulary) const {
    std::vector<std::vector<double>> result;
    for (const Json& row : list(object, field)) {
      const std::size_t at = result.size();
      if (!row.is_array()) refuse(field, shown(row), "a list of numbers", at);
      if (vocabulary == 0) vocabulary = row.size();
      if (row.empty() || row.size() != vocabulary)
        refuse(field, fmt::format("{} entries", row.size()),
               vocabulary == 0 ? "at least 1" : fmt::format("{}, as in row 0 of p", vocabulary), at);
      result.emplace_back();
      for (const Json& entry : row) {
        const bool distribution = entry.is_number() && std::isfinite(entry.get<double>()) && entry.get<double>() >= 0;
        if (!distribution) refuse(field, shown(entry), "a finite number, not negative", at, result.back().size());
        result.back().push_back(entry.get<double>());
      }
    }
    return result;
  }

  /// Returns the rows of probabilities. The sum of a row that was rounded to bfloat16 is off 1 by 2^-8 at most, and that
  /// of a softmax in float32 over 2^18 tokens by 2^18 2^-24 = 2^-6, so a sum off by more than 2^-4 is an error.
  std::vector<std::vector<double>> distributions(const Json& object, const char* field,
                                                 std::size_t vocabulary) const {
    constexpr double most_off = 0x1p-4;
    auto result = rows(object, field, vocabulary);
    for (std::size_t row = 0; row < result.size(); ++row) {
      const double sum = std::accumulate(result[row].begin(), result[row].end(), 0.0);
      if (!(std::abs(sum - 1) <= most_off))
        refuse(field, fmt::format("a row with sum {:g}", sum), "probabilities with sum 1", row);
    }
    return result;
  }

  void check_count(std::string_view field, std::size_t found, std::size_t wanted, std::string_view why) const {
    if (found != wanted) refuse(field, fmt::format("{} rows", found), fmt::format("{}, {}", wanted, why));
  }

  Input input(const Json& object) const {
    if (!object.is_object()) refuse({}, shown(object), "an object with p, q and drafts");
    const bool tree = declaration_.level == Level::tree, position = declaration_.level == Level::position;
    std::vector<std::string_view> names{"p", "q", "drafts"};
    if (tree) names.emplace_back("parents");
    if (declaration_.grammar) names.emplace_back("legal");
    if (!declaration_.settings.empty()) names.emplace_back("settings");
    for (const auto& [name, value] : object.items())
      if (std::find(names.begin(), names.end(), name) == names.end())
        refuse({}, in_quotes(name), fmt::format("one of {}", fmt::join(names, ", ")));
    Input result;
    result.p = distributions(object, "p", 0);
    if (result.p.empty()) refuse("p", "0 rows", "at least 1");
    const auto v = static_cast<std::int64_t>(result.p.front().size());
    if (const int most = declaration_.most_vocabulary; most > 0 && v > most)
      refuse("p", fmt::format("{} entries", v), fmt::format("at most {}, as the program declares", most), 0);
    for (const Json& draft : list(object, "drafts"))
      result.drafts.push_back(static_cast<Token>(whole(draft, "drafts", result.drafts.size(), 0, v - 1)));
    const std::size_t n = result.drafts.size();
    if (n < static_cast<std::size_t>(declaration_.fewest_drafts) ||
        (declaration_.most_drafts > 0 && n > static_cast<std::size_t>(declaration_.most_drafts)))
      refuse(
          "drafts", fmt::format("{}", n),
          declaration_.most_drafts > 0
              ? fmt::format("{} to {}, as the program declares", declaration_.fewest_drafts, declaration_.most_drafts)
              : fmt::format("at least {}, as the program declares", declaration_.fewest_drafts));
    check_count("p", result.p.size(), position ? 1 : n + 1,
                position ? "at one position" : "one more than there are drafts");
    result.q = distributions(object, "q", result.p.front().size());
    if (!(position && result.q.size() == 1))
      check_count("q", result.q.size(), n, position ? "one for each draft, or 1" : "one for each draft");
    if (object.contains("legal")) {
      for (const auto& mask : rows(object, "legal", result.p.front().size())) {
        auto& legal = result.legal.emplace_back();
        for (const double entry : mask) {
          if (entry != 0 && entry != 1)
            refuse("legal", fmt::format("{}", entry), "0 or 1", result.legal.size() - 1, legal.size());
          legal.push_back(entry != 0);
        }
      }
      check_count("legal", result.legal.size(), result.p.size(), "one for each row of p");
    }
    if (const auto settings = object.find("settings"); settings != object.end()) result.settings = given(*settings);
    if (!tree) return result;
    for (const Json& parent : list(object, "parents")) {
      const std::size_t at = result.parents.size();
      result.parents.push_back(
          static_cast<int>(whole(parent, "parents", at, -1, static_cast<std::int64_t>(std::min(at, n)) - 1)));
    }
    if (result.parents.size() != n)
      refuse("parents", fmt::format("{} entries", result.parents.size()), fmt::format("{}, one for each draft", n));
    return result;
  }

  const std::string& file_;
  const Declaration& declaration_;
  std::string input_{};
};

}  // namespace

DistributionRequest read_distribution_request(std::istream& stream, const std::string& file,
                                              const Declaration& declaration) {
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  return Reader(file, declaration).read(parse_json_object(text, file));
}

}  // namespace draftproof::adapters
