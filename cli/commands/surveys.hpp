// `draftproof survey`: every applicable verifier on captured or parametric distributions; `draftproof survey-paths`:
// every verifier of paths and trees on captured trees or on models; `draftproof survey-policies`: every selection
// policy on chains of drafts.
#pragma once

#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/survey_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/survey_choice.hpp>

namespace draftproof::commands {

struct Survey {
  static constexpr std::string_view name = "survey";
  static constexpr std::string_view about =
      "measures exactness, acceptance, optimum and time of every verifier on captured positions";
  static constexpr std::string_view example = "survey data/stories512_positions.npz -K 2,4";

  SurveyChoice choice{.instances = TokenLevel::instances};
  SurveyOptions options;
  DeviceChoice place;
  double confidence = 0.95;

  void declare(CLI::App& app) {
    choice.declare(app, options, source_help, "draft", "numbers of drafts");
    place.declare(app);
    app.add_option("--tuples", options.tuples, "draft tuples per row of the table, spread over the positions")
        ->check(many())
        ->capture_default_str();
    app.add_flag("--by-position", options.by_position,
                 "add the acceptance and optimum of each position to the JSON result");
    app.add_option("--confidence", confidence, "confidence level of the intervals")
        ->check(between(0.5, 0.999999999))
        ->capture_default_str();
  }

  int run(const Session& session) {
    session.set(options);
    options.device = place.device();
    if (const auto absent = place.absent(session)) return *absent;
    const std::vector<Source> sources =
        choice.rows.open_whole(choice.specs, session.seed, !choice.work.partial(session));
    const bool in_blocks = choice.work.in_blocks(session);
    if (in_blocks && options.device)
      throw InputError({.file = "work in blocks",
                        .got = "--device " + place.name,
                        .expected = "no --device with --shard, --checkpoint or several MPI ranks"});
    if (in_blocks && options.by_position)
      throw InputError(
          {.file = "--by-position",
           .got = "work in blocks",
           .expected =
               "a run without --shard, --checkpoint and several MPI ranks: blocks store sums over positions"});
    options.checkpoint = choice.work.open(session, choice.specs);
    std::uint64_t total = 0;
    for (const Source& source : sources) {
      Progress progress("planning", source.positions(), session.quiet);
      options.progress = [&progress](std::uint64_t positions) { progress.update(positions); };
      total += survey_size(source, options);
      options.progress = nullptr;
    }
    choice.check_rows(total, "survey");

    SurveyProofs<TokenLevel> asked;
    const std::vector<SurveyedSource> surveyed = survey_all(sources, options, session, total, asked);
    const std::vector<Proof> proofs = asked.prove(choice.instances, session, options.checkpoint);
    if (const auto code = choice.work.finish(session)) return *code;
    session.write(report_survey(surveyed, proofs, options, confidence, session.timings));
    return exit_code_of(proofs);
  }
};

struct SurveyPaths {
  static constexpr std::string_view name = "survey-paths";
  static constexpr std::string_view about =
      "measures exactness, accepted tokens per call and optimum of every verifier of paths and trees";
  static constexpr std::string_view example = "survey-paths data/stories512_trees.npz -K 2 -L 4";

  /// The number of instances is a fifth of the default of `prove`, so that the proofs of the whole table take only a
  /// few seconds.
  SurveyChoice choice{.instances = BlockLevel::instances / 5};
  PathSurveyOptions options;
  std::vector<int> lengths{options.length};

  void declare(CLI::App& app) {
    choice.declare(
        app, options,
        "captured trees (FILE_trees.npz), or any source of rows, whose rows become conditional distributions", "tree",
        "numbers K of paths; a tree of another shape gets as many nodes as K paths of the same length");
    app.add_option("-L,--length", lengths, "drafted tokens per path; one survey for each length")
        ->delimiter(',')
        ->check(between(1, max_path_length))
        ->capture_default_str();
    app.add_option("--steps", options.steps, "steps per row of the table")->check(many())->capture_default_str();
    app.add_option("--iterations", options.iterations,
                   "successive steps per trial; 0: 8 if the verifier keeps state between steps or the model runs "
                   "live, else 1")
        ->check(between(0, 1'000'000));
  }

  int run(const Session& session) {
    registry();
    session.set(options);
    SourceOptions rows = choice.rows.options;
    rows.seed = session.seed;
    std::vector<std::unique_ptr<PathSource>> sources;
    std::uint64_t total = 0;
    for (const std::string& spec : choice.specs) {
      sources.push_back(PathSource::open(spec, rows));
      if (rows.selection != Selection{} && sources.back()->describe().value("kind", "") != "position_as_model")
        throw InputError(
            {.file = spec, .got = "--positions or --sample", .expected = "a source of rows for these options"});
      for (const int length : lengths) {
        options.length = length;
        total += options.steps * plan_steps(*sources.back(), options).size();
      }
    }
    choice.check_rows(total, "steps");
    options.checkpoint = choice.work.open(session, choice.specs);
    std::vector<SurveyedPaths> surveyed;
    SurveyProofs<BlockLevel> asked;
    {
      Progress progress("simulating", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t steps) { progress.update(before + steps); };
      for (const auto& source : sources)
        for (const int length : lengths) {
          options.length = length;
          surveyed.push_back({source.get(), survey_paths(*source, options), length});
          asked.ask(surveyed.back().rows);
          before += options.steps * surveyed.back().rows.size();
        }
    }
    const bool complete = !stop_requested();
    const std::vector<PathProof> proofs = asked.prove(choice.instances, session, options.checkpoint);
    if (const auto code = choice.work.finish(session)) return *code;
    session.write(report_path_survey(surveyed, proofs, options, complete, session.timings));
    return exit_code_of(proofs);
  }
};

struct SurveyPolicies {
  static constexpr std::string_view name = "survey-policies";
  static constexpr std::string_view about =
      "measures verified and accepted drafts of selection policies, beside the best possible policy";
  static constexpr std::string_view example = "survey-policies data/stories512_trees.npz --budget 6";

  std::vector<std::string> specs;
  SourceChoice rows;
  PolicySurveyOptions options;
  std::string head = "overlap";
  std::vector<std::string> verifiers{"token_path"};
  int instances = 60;

  static std::vector<std::string> verifier_names() {
    std::vector<std::string> names;
    for (const VerifyRule rule : all_verify_rules) names.emplace_back(survey_name(rule));
    return names;
  }
  void declare(CLI::App& app) {
    app.add_option(
           "source", specs,
           "captured trees (FILE_trees.npz), or any source of rows, whose rows become conditional distributions")
        ->required();
    rows.declare(app);
    app.add_option("-B,--requests", options.requests, "requests of a batch, which share the budget")
        ->check(between(1, 1024))
        ->capture_default_str();
    app.add_option("-L,--length", options.length, "drafted tokens of a request")
        ->check(between(1, max_path_length))
        ->capture_default_str();
    app.add_option("--budget", options.budget, "most drafts verified in a batch; 0: half of the drafts")
        ->check(between(0, 1024 * max_path_length))
        ->capture_default_str();
    app.add_option("--cost", options.cost,
                   "costs of calls that verify 0, 1, 2, .. drafts, in any unit, such as 1,1.1,1.3, for policies that "
                   "maximise "
                   "throughput; the last cost also applies to more drafts")
        ->delimiter(',')
        ->check(positive())
        ->capture_default_str();
    app.add_option("--head", head,
                   "confidence that policies read after a prefix: overlap, the sum of min(p, q), the probability "
                   "that the next draft "
                   "is accepted; or largest, the largest entry of q")
        ->check(CLI::IsMember({"overlap", "largest"}))
        ->capture_default_str();
    app.add_option("--batches", options.batches, "number of batches; every policy gets the same ones")
        ->check(many())
        ->capture_default_str();
    app.add_option("--policy", options.policies, "only these policies")->type_name(no_file)->delimiter(',');
    app.add_option("--verifier", verifiers, "verifiers of the kept drafts; one row for each")
        ->delimiter(',')
        ->check(CLI::IsMember(verifier_names()))
        ->capture_default_str();
    app.add_flag("--sizes", options.sizes, "add the draft passes and verified drafts of batches to the JSON result");
    app.add_flag("--mutants", options.mutants, "include the mutants (policies with a known bug)");
    app.add_option("--instances", instances, "small batches on which each property is checked; 0: no checks")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
  }

  int run(const Session& session) {
    session.set(options);
    options.head = head == "overlap" ? ConfidenceHead::overlap : ConfidenceHead::largest;
    options.rules.clear();
    for (const VerifyRule rule : all_verify_rules)
      if (std::ranges::find(verifiers, survey_name(rule)) != verifiers.end()) options.rules.push_back(rule);
    SourceOptions opened = rows.options;
    opened.seed = session.seed;
    std::vector<std::unique_ptr<PathSource>> sources;
    for (const std::string& spec : specs) {
      sources.push_back(PathSource::open(spec, opened));
      if (opened.selection != Selection{} && sources.back()->describe().value("kind", "") != "position_as_model")
        throw InputError(
            {.file = spec, .got = "--positions or --sample", .expected = "a source of rows for these options"});
    }
    std::vector<SurveyedPolicies> surveyed;
    Status status = Status::passed;
    {
      Progress progress("simulating", options.batches * sources.size(), session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t batches) { progress.update(before + batches); };
      for (const auto& source : sources) {
        surveyed.push_back({source.get(), survey_policies(*source, options)});
        before += options.batches;
      }
    }
    std::vector<std::vector<Finding>> findings;
    for (const PolicyRow& row : surveyed.front().survey.rows) {
      if (instances == 0) break;
      std::vector<Finding> found = examined(*row.policy, session.seed);
      if (stop_requested()) break;
      for (const Finding& finding : found)
        if (row.policy->kind() == Kind::verifier && fails(row, finding)) status = Status::failed;
      findings.push_back(std::move(found));
    }
    if (findings.size() == surveyed.front().survey.rows.size())
      for (SurveyedPolicies& item : surveyed) item.findings = findings;
    const bool complete = !stop_requested();
    session.write(report_policy_survey(surveyed, options, complete));
    return status != Status::failed && !complete ? exit_undecided : exit_code_of(status);
  }

 private:
  /// Returns the worst finding of each property over `instances` small batches. A request to stop takes effect
  /// between rounds of 60 batches.
  std::vector<Finding> examined(const AnyComponent& policy, std::uint64_t seed) const {
    constexpr int round = 60;
    std::vector<Finding> worst;
    for (int done = 0; done < instances && !stop_requested(); done += round) {
      const auto found = policy.examine({.seed = seed + static_cast<std::uint64_t>(done / round),
                                         .tries_alone = false,
                                         .cases = std::min(round, instances - done)});
      if (worst.empty()) worst = found;
      bool failed = false;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].status == Status::failed) worst[i] = found[i];
        failed |= worst[i].status == Status::failed;
      }
      if (failed) break;
    }
    return worst;
  }
};

}  // namespace draftproof::commands
