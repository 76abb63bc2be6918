// `draftproof bench`: measures the registered benchmarks, judges goals, compares two runs, and writes the page of
// figures.
#pragma once

#include <algorithm>
#include <iostream>

#include <draftproof/bench/groups/adapter.hpp>
#include <draftproof/bench/page/page.hpp>
#include <draftproof/bench/peers/python.hpp>
#include <draftproof/bench/register_benchmark.hpp>
#include <draftproof/bench/results/results.hpp>
#include <draftproof/bench/run.hpp>
#include <draftproof/cli/register_command.hpp>

namespace draftproof::commands {

struct Bench {
  static constexpr std::string_view name = "bench";
  static constexpr std::string_view about =
      "times all registered benchmarks, with reference programs, lower bounds and goals to compare with";
  static constexpr std::string_view example = "bench simulate --quick";

  std::vector<std::string> filters;
  benchmarks::RunOptions options;
  bool list = false, quick = false, full = false, require_goals = false;
  std::string page, old_file, new_file, results_file;
  double threshold = 5;
  CLI::App *compare = nullptr, *report = nullptr;
  CLI::Option *repetitions = nullptr, *min_time = nullptr, *minutes = nullptr;

  void declare(CLI::App& app) {
    app.add_option("filter", filters, "regular expressions; runs the benchmarks that match one of them")
        ->type_name(no_file);
    app.add_flag("--list", list, "print the names, run nothing");
    repetitions = app.add_option("--repetitions", options.repetitions, "repetitions of every benchmark")
                      ->check(between(1, 10'000))
                      ->capture_default_str();
    min_time = app.add_option("--min-time", options.min_time, "least time of a repetition, in seconds")
                   ->check(between(1e-6, 1e4))
                   ->capture_default_str();
    app.add_option("--longest", options.longest, "stop repeating a benchmark after this many seconds")
        ->check(positive())
        ->capture_default_str();
    app.add_flag("--full", full,
                 "run all sizes, without a time limit [the sizes of goals, and one middle size of each other "
                 "benchmark]");
    minutes =
        app.add_option(
               "--minutes", options.minutes,
               "minutes after which no further benchmark starts; 0: no limit [15 without a filter, else no limit]")
            ->check(between(0, 1e6));
    app.add_flag("--quick", quick, "three repetitions of 0.01 s each");
    app.add_flag("--interleave,!--no-interleave", options.interleave,
                 "run rounds over all benchmarks in random order (default), or one benchmark after the other");
    app.add_flag("--require-goals", require_goals,
                 "exit code 1 if a goal is missed in every round, 3 if in some rounds");
    app.add_option(
        "--python", benchmarks::chosen_python(),
        "Python interpreter for the peers, which are reference programs [DRAFTPROOF_PYTHON, else python3]");
    app.add_option("--page", page, "write the page of results to this file and its plots into the folder beside it")
        ->type_name(written_file);
    compare = app.add_subcommand("compare", "compares two runs: faster, slower, or within noise");
    compare->add_option("old", old_file, "result of `draftproof bench --json` before the change")->required();
    compare->add_option("new", new_file, "result of `draftproof bench --json` after the change")->required();
    compare->add_option("--threshold", threshold, "least difference of medians that counts, in per cent")
        ->check(between(0.0, 1000.0))
        ->capture_default_str();
    report = app.add_subcommand("report", "prints the tables of a stored run, or with --page its page");
    report->add_option("results", results_file, "result of `draftproof bench --json`")->required();
    report
        ->add_option("--page", page, "write the page of results to this file and its plots into the folder beside it")
        ->type_name(written_file);
  }

  int run(const Session& session) {
    using namespace benchmarks;
    Session{.output = page}.check_output();
    if (compare->parsed()) {
      const double share = threshold / 100;
      session.write(
          report_comparison(draftproof::benchmarks::compare(read_results(old_file), read_results(new_file), share),
                            old_file, new_file, share));
      return exit_passed;
    }
    if (report->parsed()) return show(session, read_json(results_file), results_file);
    for (const adapters::OpenAdapter& adapter : session.external) {
      found_benchmarks().emplace_back([adapter] { Adapter::add_adapter(adapter); });
      // With --adapter and no other filter, only the adapters are measured.
      filters.push_back("^adapter/(" + adapter.served->declaration().name + "|copy)/");
    }
    std::vector<std::string> names = choose_benchmarks(registered_benchmarks(), filters);
    if (filters.empty() && !page.empty())
      std::erase_if(names, [](const std::string& one) { return !on_page(plain_name(one), found_goals()); });
    else if (filters.empty() && !full && !list) {
      names = usual_sizes(names, found_goals());
      constexpr double usual_minutes = 15;
      if (minutes->empty()) options.minutes = usual_minutes;
    }
    if (list) {
      for (const std::string& one : names) std::cout << plain_name(one) << '\n';
      if (!std::cout.flush()) throw WriteFailure("standard output cannot be written");
      return exit_passed;
    }
    return show(session, measure(names, session), "run");
  }

 private:
  nlohmann::ordered_json measure(const std::vector<std::string>& names, const Session& session) {
    if (quick && repetitions->empty()) options.repetitions = 3;
    if (quick && min_time->empty()) options.min_time = 0.01;
    options.seed = session.seed;
    options.stop = &stop_requested();
    Progress progress("benchmarking", names.size() * static_cast<std::uint64_t>(options.repetitions), session.quiet);
    options.progress = [&progress](std::uint64_t done) { progress.update(done); };
    if (!session.output.empty())
      options.keep = [&session](const nlohmann::ordered_json& data) {
        session.write({data, benchmarks::sections_of(benchmarks::results_of(data, "run"))});
      };
    return benchmarks::run_benchmarks(names, options);
  }

  int show(const Session& session, nlohmann::ordered_json data, const std::string& file) const {
    using namespace benchmarks;
    const Results results = results_of(data, file);
    if (!page.empty()) write_page(results, page);
    const auto judged = judge(results.goals, results);
    session.write({std::move(data), sections_of(results)});
    if (stop_requested()) return exit_undecided;
    const auto any = [&judged](GoalResult verdict) {
      return std::any_of(judged.begin(), judged.end(), [=](const Judged& goal) { return goal.verdict == verdict; });
    };
    if (!require_goals) return exit_passed;
    return any(GoalResult::missed) ? exit_failed : any(GoalResult::undecided) ? exit_undecided : exit_passed;
  }
};

}  // namespace draftproof::commands
