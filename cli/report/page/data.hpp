// Stored results: JSON of the program, or a page that contains it. Because files may come from anybody, the readers
// accept every JSON document: a member that is absent or has another type is read as empty.
//
//   results    one document, or several of schema draftproof.report/2
//   records    every list of objects as a flat table: a member of a nested object becomes a column such as
//              "optimum.low"; rows of a nested list repeat the identifying members of the element that contains it
//   verdicts   of proofs, gates, mutants, controls, audits and judged goals
//   surveys    rows of positions have an acceptance with its interval, rows of paths a number of accepted tokens with
//              its standard error
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::page {

using Json = nlohmann::ordered_json;

/// Returns the member; null if `object` is not an object or lacks it.
inline const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

/// Returns the member if it is text, else "".
inline std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Returns the member if it is a number, else nullopt.
inline std::optional<double> number_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// Returns the member if it is a number of drafts or tokens, else 0.
inline int count_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? value.get<int>() : 0;
}

/// Returns the elements of a list that are objects; empty if `list` is not a list.
inline std::vector<const Json*> objects_in(const Json& list) {
  std::vector<const Json*> found;
  if (list.is_array())
    for (const Json& element : list)
      if (element.is_object()) found.push_back(&element);
  return found;
}

/// Whether `text` begins with `start`. Verdicts are compared this way, because a number may follow the word.
inline bool begins(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// Returns a value as text: numbers to six digits, lists and objects as JSON.
std::string value_text(const Json& value);

struct Result {
  std::string name;  ///< name of the file that the result came from; empty for a run
  Json data;
};

/// Returns a single result as it is, and several as one object of schema draftproof.report/2, which is a result too.
Json joined(std::vector<Result> results);

/// Returns the results in `data`: the parts of an object that joined() made, else `data` itself.
std::vector<Result> results_in(const Json& data);

/// The text before and after the data in a page. Every "<" of the data is written "\u003c", so that no text in it
/// ends the block.
inline constexpr std::string_view block_start = "<script type=\"application/json\" id=\"draftproof-data\">\n";
inline constexpr std::string_view block_end = "\n</script>";

/// Returns the text of the data block of a page; nullopt if `text` is not a page of draftproof.
std::optional<std::string_view> data_block(std::string_view text);

/// Returns the data of a file. Throws: InputError if the file cannot be read, is neither JSON nor a page, is nested
/// deeper than 64 levels, or has no schema of draftproof.
Json read_result(const std::string& file);

struct Records {
  std::string name;                  ///< path of the list in the data, for example "sources.rows"
  std::vector<std::string> columns;  ///< columns of all rows, in the order of their first appearance
  std::vector<Json> rows;            ///< flat objects; lists of numbers or texts stay lists
};

/// Returns the tables in the order of the data.
std::vector<Records> records_in(const Json& data);

/// Returns the table of measurements: `sources.rows` of a survey or `sources.optimum` if there is one, of a study the
/// table with the most rows, else the first. It is empty if there are no tables. If the run was not complete, each row
/// has `complete` = false.
Records main_records(const Json& data);

/// From good to bad; a change to a later grade is a change for the worse.
enum class Grade { good, open, lossy, bad };

struct Verdict {
  std::string kind;     ///< "proof", "gate", "mutant", "control", "policy", "audit", "goal"
  std::string subject;  ///< the scheme
  std::string where;    ///< its draft sampling, level or tier
  std::string text;     ///< "proved", "refuted", "passed", "caught", ..
  Grade grade;
  std::string detail{};  ///< "50 instances"

  /// Returns the text by which comparisons match this verdict with the verdict of another run.
  std::string key() const { return kind + " " + subject + " " + where; }
};

using VerdictReader = std::function<void(const Json& data, std::vector<Verdict>& verdicts)>;

/// Returns the functions, registered by other libraries, that read further verdicts, such as goals of benchmarks.
std::vector<VerdictReader>& found_verdict_readers();

/// Returns the verdicts in the order of the data.
std::vector<Verdict> verdicts_in(const Json& data);

struct Counterexample {
  std::string subject, where, property;
  std::string instance, evidence, replay;
  bool expected = false;  ///< true for a mutant or a scheme that is lossy by design
};

/// Returns the counterexamples in `data`, unexpected ones first.
std::vector<Counterexample> counterexamples_in(const Json& data);

struct SurveyedRate {
  std::string verifier, distribution, verdict;
  int drafts = 0, length = 0;     ///< length of the paths, or 0 for one position
  double rate = 0;                ///< acceptance of one position, or accepted tokens of a path
  double low = 0, high = 0;       ///< interval of `rate`
  std::optional<double> optimum;  ///< optimum of the distribution, in the unit of `rate`
  std::optional<double> closed;   ///< share of the gap from one draft to the optimum
  /// The pairs (optimum, acceptance) of single positions; empty if the data does not have them.
  std::vector<std::pair<double, double>> at_positions{};
  std::vector<double> reached;  ///< for paths: probabilities that at least 1, 2, .. tokens are accepted

  std::string name() const { return verifier + ", K = " + std::to_string(drafts); }
  bool lossy() const { return begins(verdict, "lossy"); }
  bool refuted() const { return begins(verdict, "refuted"); }
  /// Whether the interval reaches down to the optimum, so that a rate above the optimum may be noise of the trials.
  bool within_noise() const { return optimum && low <= *optimum; }
};

struct SurveyOfSource {
  std::string source;  ///< name, with the length if the source was surveyed at several lengths
  std::string name;    ///< name of the source
  bool paths = false;
  std::vector<SurveyedRate> rates;  ///< rows that ran, in the order of the data
};

/// Returns the surveys in `data`, one per source; empty for other documents. The interval of a row of paths is its mean
/// plus and minus 1.96 standard errors.
std::vector<SurveyOfSource> surveys_in(const Json& data);

/// Returns the draft samplings, those with the most rows first.
std::vector<std::string> distributions_in(const SurveyOfSource& survey);

/// Returns for each (verifier, distribution) the row with the most drafts among those for which `shown` is true.
std::vector<const SurveyedRate*> rows_at_most_drafts(const SurveyOfSource& survey,
                                                     const std::function<bool(const SurveyedRate&)>& shown);

/// Whether a verifier has rows with different numbers of drafts.
bool several_drafts(const std::vector<const SurveyedRate*>& rows);

}  // namespace draftproof::page
