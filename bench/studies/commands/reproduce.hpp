// `draftproof reproduce`: computes published figures and claims again.
#pragma once

#include <algorithm>

#include <draftproof/bench/studies/study.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/cli/ranks.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>

namespace draftproof::commands {

struct Reproduce {
  static constexpr std::string_view name = "reproduce";
  static constexpr std::string_view about = "recomputes published figures and claims (docs/studies.md)";
  static constexpr std::string_view example = "reproduce worst_cases";

  std::string study;
  StudyOptions options;
  WorkChoice work;

  void declare(CLI::App& app) {
    app.add_option("study", study, "name of the study; without a name, lists all studies");
    app.add_option("source", options.sources, source_help);
    app.add_option(
           "--effort", options.effort,
           "size of the study, in its own unit (instances, draft tuples or tokens; see its page); 0: its default")
        ->check(between(0.0, 1e15));
    work.declare(app);
  }

  int run(const Session& session) {
    registry();
    if (study.empty()) return list(session);
    const auto& all = found_studies();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Study& s) { return s.name == study; });
    if (found == all.end()) {
      std::vector<std::string> names;
      for (const Study& known : all) names.emplace_back(known.name);
      throw InputError({.file = "study",
                        .got = in_quotes(study),
                        .expected = "one that `draftproof list` shows" + did_you_mean(names, study)});
    }
    if (!found->divided) {
      if (work.asked(session))
        throw InputError({.file = "work in blocks",
                          .got = study,
                          .expected = "a study that is divided into blocks: " + divided()});
      if (rank_of_job().first > 0) return exit_passed;  // only rank 0 runs it
    } else {
      options.checkpoint = work.open(session, options.sources);
    }
    session.set(options);
    options.timings = session.timings;
    StudyResult result;
    {
      std::unique_ptr<Progress> progress;
      options.progress = [&](std::uint64_t done, std::uint64_t total) {
        if (!progress) progress = std::make_unique<Progress>(study, total, session.quiet);
        progress->update(done);
      };
      result = found->run(options);
    }
    if (options.checkpoint)
      if (const auto code = work.finish(session)) return *code;
    session.write(result.document);
    if (!result.passed) return exit_failed;
    return result.complete ? exit_passed : exit_undecided;
  }

 private:
  static std::string divided() {
    std::string names;
    for (const Study& study : found_studies())
      if (study.divided) names += (names.empty() ? "" : ", ") + std::string(study.name);
    return names;
  }

  static int list(const Session& session) {
    Document document;
    document.data = {{"schema", "draftproof.studies/1"}};
    Section section{.title = "studies", .table = {{{"name"}, {"what it computes"}, {"source"}}, {}}};
    for (const Study& study : found_studies()) {
      section.table.rows.push_back(
          {{std::string(study.name)}, {std::string(study.about)}, {std::string(study.source)}});
      document.data["studies"].push_back({{"name", study.name}, {"about", study.about}, {"source", study.source}});
    }
    document.sections.push_back(std::move(section));
    session.write(document);
    return exit_passed;
  }
};

}  // namespace draftproof::commands
