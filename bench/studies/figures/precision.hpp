// The effect of floating point on a lossless verifier at the sizes of real vocabularies. The study computes the exact
// output distribution of the verifier's program in each form of rows (tables, fresh rows, ..), and the error of rows
// stored in short formats.
//
//   rows      p over all V tokens, q over a few, so that an enumeration ends: whole_rows()
//   TV        distance between p and the output distribution in one form of the rows: audit()
//   stored    rows rounded to a format and read directly; TV to the distribution of the rounded rows, and to p
//   controls  textbook samplers of p, for comparison: the running sum of p in float32, and exact sums of p with a
//             uniform of b bits
//
// Cost: an enumeration is a few passes over V; --effort is the number of tokens that can be drafted.
// Correctness: a draw takes token x when u falls between two adjacent sums. For an ideal u the probability is their
// difference; for a uniform of b bits it is the number of multiples of 2^-b between them, times 2^-b. The sums are
// integers here, because rows are converted to integers whose sum is 2^62 (quantise()).
// Claimed: every form is within 1e-11 of p, and float32 rows within 1e-6 of their own distribution; float32 running
// sums and 24-bit uniforms are beyond 1e-6.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <draftproof/bench/studies/records.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/verifiers/mutants/pick.hpp>

namespace draftproof::studies {

struct Precision {
  static constexpr std::string_view name = "precision";
  static constexpr std::string_view about =
      "what floating point does to the distribution of every verifier, at V up to 262,144";
  static constexpr std::string_view source = "measured here";

  static constexpr std::array<int, 3> vocabularies{32'000, 128'256, 262'144};
  static constexpr int drafts = 2;

  static StudyResult run(const StudyOptions& options) {
    std::vector<const AnyVerifier*> verifiers;
    for (const auto& verifier : registry().verifiers())
      if (verifier->kind() == Kind::verifier && has_precision(*verifier) &&
          verifier->info().unsupported.simulate.empty())
        verifiers.push_back(verifier.get());
    return audit_all(options, verifiers, vocabularies);
  }

  static StudyResult audit_all(const StudyOptions& options, const std::vector<const AnyVerifier*>& verifiers,
                               std::span<const int> sizes) {
    const int support = options.effort > 0 ? static_cast<int>(std::min<std::uint64_t>(options.effort, 64)) : 3;
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.precision/1"},
                                         {"seed", options.seed},
                                         {"drafts", drafts},
                                         {"tokens_that_can_be_drafted", support}};
    Records exact{{.title = "TV to p, of the program in double"}};
    Records stored{
        {.title =
             "rows stored in short formats, read as fresh rows: TV to their own distribution / to the rows before"}};
    Checks checks;
    std::uint64_t done = 0;
    for (const AnyVerifier* verifier : verifiers) {
      if (result.stopped(options)) break;
      audit_one({*verifier, options.seed, support}, sizes, data, exact, stored, checks);
      options.tell(++done, verifiers.size());
    }
    result.document.sections = {std::move(exact.section), std::move(stored.section),
                                controls(options.seed, sizes, data, checks)};
    checks.report(
        result,
        "forms within 1e-11 of p, float32 rows within 1e-6 of their distribution, textbook samplers beyond it");
    return result;
  }

  /// Returns the distribution of a draw by the running sum of the row in float32.
  static std::vector<double> running_float_sum(const std::vector<double>& row) {
    const auto plan = mutants::FloatRunningSum{}.prepare(Rows<double>(row, row), 1);
    std::vector<double> distribution(row.size());
    mutants::FloatRunningSum::Differences<float>(plan.sums).for_each(
        [&distribution](Token x, double weight) { distribution[static_cast<std::size_t>(x)] = weight; });
    return exact_target(distribution);
  }

  /// Returns the distribution of a draw by exact sums and a uniform of 1 <= bits <= 53.
  static std::vector<double> grid_distribution(const std::vector<double>& row, int bits) {
    const std::uint64_t step = row_total >> bits;
    std::vector<double> distribution;
    distribution.reserve(row.size());
    std::uint64_t sum = 0, points = 0;  // points: multiples of the step below the sum, including 0
    for (const std::uint64_t mass : quantise(row)) {
      const std::uint64_t before = points;
      sum += mass;
      points = (sum + step - 1) / step;
      distribution.push_back(static_cast<double>(points - before) * static_cast<double>(step) * 0x1p-62);
    }
    return distribution;
  }

 private:
  struct Subject {
    const AnyVerifier& verifier;
    std::uint64_t seed;
    int support;

    const AnyDrafter& drafter() const { return *registry().drafters_of(verifier.info()).front(); }
    int count() const { return verifier.takes(drafts) ? drafts : std::max(verifier.info().fewest_drafts, 1); }
    RowPair rows(int vocabulary) const {
      return whole_rows(vocabulary, std::max(support, count() + 1), drafter().info().several_proposals ? count() : 1,
                        seed);
    }
    std::optional<AuditedDistribution> distribution(Form form, const RowPair& rows) const {
      return audit(verifier, drafter(), form, rows, count(), 1'000'000);
    }
  };

  static std::string text(double distance) { return fmt::format("{:.1e}", distance); }
  static Field of_size(int vocabulary, std::string_view shown) {
    return cell("V = " + grouped(static_cast<std::uint64_t>(vocabulary)), shown);
  }

  static void audit_one(const Subject& subject, std::span<const int> sizes, nlohmann::ordered_json& data,
                        Records& exact, Records& stored, Checks& checks) {
    const Info& info = subject.verifier.info();
    std::vector<std::vector<Field>> forms, formats;
    for (const Form form : all_forms) forms.push_back({note("verifier", info.name), note("form", to_text(form))});
    for (const StoredFormat& format : stored_formats)
      formats.push_back({note("verifier", info.name), note("format", format.name)});
    for (const int vocabulary : sizes) {
      const RowPair rows = subject.rows(vocabulary);
      const std::vector<double> target = exact_target(rows.target);
      for (const Form form : all_forms) {
        const auto distribution = subject.distribution(form, rows);
        const double distance = distribution ? distribution->distance(target) : 0;
        forms[static_cast<std::size_t>(form)].push_back(of_size(vocabulary, distribution ? text(distance) : "-"));
        if (!distribution) continue;
        data["forms"].push_back(
            {{"verifier", info.name}, {"form", to_text(form)}, {"vocabulary", vocabulary}, {"distance", distance}});
        const double tau = info.promise == Promise::lossless_up_to ? info.tau : 0;
        checks.at_most(distance, large_limit + tau, 0,
                       [&] { return fmt::format("{}, {} at V = {}", info.name, to_text(form), vocabulary); });
      }
      for (std::size_t f = 0; f < stored_formats.size(); ++f) {
        const RowPair rounded = stored_formats[f].round(rows);
        const auto distribution = subject.distribution(Form::fresh, rounded);
        if (!distribution) {
          formats[f].push_back(of_size(vocabulary, "-"));
          continue;
        }
        const double own = distribution->distance(exact_target(rounded.target)),
                     before = distribution->distance(target);
        formats[f].push_back(of_size(vocabulary, text(own) + " / " + text(before)));
        data["stored"].push_back({{"verifier", info.name},
                                  {"format", stored_formats[f].name},
                                  {"vocabulary", vocabulary},
                                  {"distance", own},
                                  {"distance_to_unrounded", before}});
        if (f == 0)
          checks.at_most(own, float32_limit, 0,
                         [&] { return fmt::format("{}, float32 rows at V = {}", info.name, vocabulary); });
      }
    }
    for (const auto& row : forms) exact.add(row);
    for (const auto& row : formats) stored.add(row);
  }

  static Section controls(std::uint64_t seed, std::span<const int> sizes, nlohmann::ordered_json& data,
                          Checks& checks) {
    using Distribution = std::vector<double>;
    const std::pair<std::string_view, Distribution (*)(const Distribution&)> samplers[] = {
        {"float32 running sum", [](const Distribution& p) { return running_float_sum(p); }},
        {"24-bit uniforms, exact sums", [](const Distribution& p) { return grid_distribution(p, 24); }},
        {"32-bit uniforms, exact sums", [](const Distribution& p) { return grid_distribution(p, 32); }},
        {"53-bit uniforms, exact sums", [](const Distribution& p) { return grid_distribution(p, 53); }},
        {"p stored as bf16", [](const Distribution& p) { return exact_target(bfloat16.round(p)); }}};
    std::vector<std::vector<Field>> rows;
    for (const auto& [sampler, distribution] : samplers) rows.push_back({note("sampler", sampler)});
    for (const int vocabulary : sizes) {
      const Distribution p = exact_target(whole_rows(vocabulary, 1, 1, seed).target);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [sampler, distribution] = samplers[i];
        const double distance = total_variation(distribution(p), p);
        rows[i].push_back(of_size(vocabulary, text(distance)));
        data["controls"].push_back({{"sampler", sampler}, {"vocabulary", vocabulary}, {"distance", distance}});
        if (i < 2)
          checks.at_most(float32_limit, distance, 0,
                         [&, sampler = sampler] { return fmt::format("{} at V = {} passes", sampler, vocabulary); });
      }
    }
    Records drawn{{.title = "controls: draws from p as textbooks do them, TV to p"}};
    for (const auto& row : rows) drawn.add(row);
    return std::move(drawn.section);
  }
};

}  // namespace draftproof::studies
