// Violations as lines that hosted CI services turn into marks on a change: "::error file=..,title=..::message".
//
// Sources: every unexpected counterexample, every other bad verdict, and in a comparison every verdict that got worse.
// The file is the header of the scheme where one of that name lies in the folder of the run.
#pragma once

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include <draftproof/report/page/page.hpp>
#include <draftproof/report/page/verdicts.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

struct Annotations {
  static constexpr std::string_view name = "annotations";
  static constexpr std::string_view about = "violations as workflow commands of hosted CI, one a line";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const page::Result& result : page::results_in(document.data)) {
      if (page::member(result.data, "complete") == false)
        out << "::warning title=stopped early::this is what was known by then\n";
      std::set<std::string> said;
      for (const page::Counterexample& example : page::counterexamples_in(result.data)) {
        if (example.expected) continue;
        said.insert(example.subject + " " + example.where);
        line(example.subject, fmt::format("{} ({}): {} violated", example.subject, example.where, example.property),
             fmt::format("on {}: {}\n{}", example.instance, example.evidence, example.replay), out);
      }
      for (const page::Verdict& verdict : page::verdicts_in(result.data))
        if (verdict.grade == page::Grade::bad && !said.contains(verdict.subject + " " + verdict.where))
          line(verdict.subject, fmt::format("{} ({}): {}", verdict.subject, verdict.where, verdict.text),
               verdict.detail, out);
      if (!page::begins(page::text_of(result.data, "schema"), "draftproof.report.compare/")) continue;
      for (const page::Json* entry : page::objects_in(page::member(result.data, "verdicts")))
        if (page::text_of(*entry, "change") == "worse")
          line(page::text_of(*entry, "subject"),
               fmt::format("{} ({}) got worse", page::text_of(*entry, "subject"), page::text_of(*entry, "where")),
               fmt::format("{} -> {}. {}", page::text_of(*entry, "old"), page::text_of(*entry, "new"),
                           page::text_of(*entry, "counterexample")),
               out);
    }
  }

 private:
  static void line(const std::string& subject, const std::string& title, const std::string& message,
                   std::ostream& out) {
    const std::string file = header_of(subject);
    out << "::error " << (file.empty() ? "" : "file=" + coded(file, true) + ",") << "title=" << coded(title, true)
        << "::" << coded(message, false) << '\n';
  }

  /// The header of a scheme relative to the folder of the run; "" where there is none.
  static std::string header_of(const std::string& subject) {
    if (subject.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) return {};
    for (const char* folder : {"", "verifiers/", "verifiers/lossy/", "verifiers/paths/", "verifiers/lossy/paths/",
                               "mutants/", "mutants/paths/", "mutants/drafters/"}) {
      const std::string file = folder + subject + ".hpp";
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored)) return file;
    }
    return {};
  }

  /// The coding of workflow commands: per cent and line ends, in a property also colon and comma.
  static std::string coded(const std::string& text, bool property) {
    std::string result;
    for (const char character : text) {
      const bool special = character == '%' || character == '\r' || character == '\n' ||
                           (property && (character == ':' || character == ','));
      if (special)
        result += fmt::format("%{:02X}", static_cast<unsigned char>(character));
      else
        result += character;
    }
    return result;
  }
};

}  // namespace draftproof::writers
