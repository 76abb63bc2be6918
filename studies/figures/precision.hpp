// The effect of floating point on a lossless law: the exact law of each verifier's program, form by form, and the
// error of rows stored in short formats, at the sizes of real vocabularies.
//
//   rows      p over all V tokens, q over a few, so that an enumeration ends: precision_rows.hpp
//   TV        distance of the law of a form from p, the rows' own law: precision_audit.hpp
//   stored    rows rounded to a format and read directly; TV to their own law, and to that of the rows before
//   controls  textbook samplers (precision_controls.hpp), for comparison
//
// Cost: an enumeration is a few passes over V; --effort is the number of tokens that can be drafted.
// Claimed: every form is within 1e-11 of p, and float32 rows within 1e-6 of their own law; float32 running sums and
// 24-bit uniforms are beyond 1e-6.
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/precision/audit_gate.hpp>
#include <draftproof/properties/precision/audit_rows.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/precision_controls.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct Precision {
  static constexpr std::string_view name = "precision";
  static constexpr std::string_view about =
      "what floating point does to the law of every verifier, at V up to 262,144";
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
    result.document.data = {{"schema", "draftproof.study.precision/1"},
                            {"seed", options.seed},
                            {"drafts", drafts},
                            {"tokens_that_can_be_drafted", support}};
    Section exact = section("TV to p, of the program in double", {"verifier", "form"}, sizes);
    Section stored =
        section("rows stored in short formats, read as fresh rows: TV to their own law / to the rows before",
                {"verifier", "format"}, sizes);
    Checks checks;
    std::uint64_t done = 0;
    for (const AnyVerifier* verifier : verifiers) {
      if (options.stopped()) {
        result.complete = false;
        break;
      }
      audit_one({*verifier, options.seed, support}, sizes, result.document.data, exact, stored, checks);
      options.tell(++done, verifiers.size());
    }
    result.document.sections = {std::move(exact), std::move(stored), controls(options.seed, sizes, result, checks)};
    checks.report(result,
                  "forms within 1e-11 of p, float32 rows within 1e-6 of their law, textbook samplers beyond it");
    return result;
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
    std::optional<AuditedLaw> law(Form form, const RowPair& rows) const {
      return audit(verifier, drafter(), form, rows, count(), 1'000'000);
    }
  };

  static Section section(std::string title, std::initializer_list<const char*> names, std::span<const int> sizes) {
    Section empty{.title = std::move(title)};
    for (const char* column : names) empty.table.columns.push_back({column});
    for (const int vocabulary : sizes)
      empty.table.columns.push_back({"V = " + grouped(static_cast<std::uint64_t>(vocabulary)), true});
    return empty;
  }

  static void audit_one(const Subject& subject, std::span<const int> sizes, nlohmann::ordered_json& data,
                        Section& exact, Section& stored, Checks& checks) {
    const std::string scheme(subject.verifier.info().name);
    std::vector<std::vector<Cell>> forms, formats;
    for (const Form form : all_forms) forms.push_back({{scheme}, {std::string(to_text(form))}});
    for (const StoredFormat& format : stored_formats) formats.push_back({{scheme}, {std::string(format.name)}});
    for (const int vocabulary : sizes) {
      const RowPair rows = subject.rows(vocabulary);
      const std::vector<double> target = exact_target(rows.target);
      for (const Form form : all_forms) {
        const auto law = subject.law(form, rows);
        auto& cells = forms[static_cast<std::size_t>(form)];
        cells.push_back({law ? number(law->distance(target)) : "-"});
        if (!law) continue;
        const double distance = law->distance(target);
        data["forms"].push_back(
            {{"verifier", scheme}, {"form", to_text(form)}, {"vocabulary", vocabulary}, {"distance", distance}});
        const double tau =
            subject.verifier.info().promise == Promise::lossless_up_to ? subject.verifier.info().tau : 0;
        checks.at_most(distance, large_limit + tau, 0,
                       [&] { return fmt::format("{}, {} at V = {}", scheme, to_text(form), vocabulary); });
      }
      for (std::size_t f = 0; f < stored_formats.size(); ++f) {
        const RowPair rounded = stored_formats[f].round(rows);
        const auto law = subject.law(Form::fresh, rounded);
        if (!law) {
          formats[f].push_back({"-"});
          continue;
        }
        const double own = law->distance(exact_target(rounded.target)), before = law->distance(target);
        formats[f].push_back({number(own) + " / " + number(before)});
        data["stored"].push_back({{"verifier", scheme},
                                  {"format", stored_formats[f].name},
                                  {"vocabulary", vocabulary},
                                  {"distance", own},
                                  {"distance_to_unrounded", before}});
        if (f == 0)
          checks.at_most(own, float32_limit, 0,
                         [&] { return fmt::format("{}, float32 rows at V = {}", scheme, vocabulary); });
      }
    }
    for (auto& cells : forms) exact.table.rows.push_back(std::move(cells));
    for (auto& cells : formats) stored.table.rows.push_back(std::move(cells));
  }

  static Section controls(std::uint64_t seed, std::span<const int> sizes, StudyResult& result, Checks& checks) {
    Section drawn = section("controls: draws from p as textbooks do them, TV to p", {"sampler"}, sizes);
    std::array<std::pair<std::string, std::vector<Cell>>, 5> rows{
        std::pair{std::string("float32 running sum"), std::vector<Cell>{}},
        {"24-bit uniforms, exact sums", {}},
        {"32-bit uniforms, exact sums", {}},
        {"53-bit uniforms, exact sums", {}},
        {"p stored as bf16", {}}};
    for (const int vocabulary : sizes) {
      const std::vector<double> p = exact_target(whole_rows(vocabulary, 1, 1, seed).target);
      const std::array laws{running_float_sum(p), grid_law(p, 24), grid_law(p, 32), grid_law(p, 53),
                            exact_target(bfloat16.round(p))};
      for (std::size_t i = 0; i < laws.size(); ++i) {
        const double distance = total_variation(laws[i], p);
        rows[i].second.push_back({number(distance)});
        result.document.data["controls"].push_back(
            {{"sampler", rows[i].first}, {"vocabulary", vocabulary}, {"distance", distance}});
        if (i < 2)
          checks.at_most(float32_limit, distance, 0,
                         [&] { return fmt::format("{} at V = {} passes", rows[i].first, vocabulary); });
      }
    }
    for (auto& [sampler, cells] : rows) {
      cells.insert(cells.begin(), {sampler});
      drawn.table.rows.push_back(std::move(cells));
    }
    return drawn;
  }

  static std::string number(double distance) { return fmt::format("{:.1e}", distance); }
};

}  // namespace draftproof::studies
