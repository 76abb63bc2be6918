// The distributions of right and of wrong programs: the check that fails, its smallest instance and its message.
#include <draftproof/adapters/gate/distribution_checks.hpp>

#include <cmath>
#include <memory>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/tests/support/adapters_rejection.hpp>

namespace draftproof::adapters {
namespace {

const std::string accepted_half_the_time = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
                  never_accepted = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1";

/// Returns rejection sampling that stops on some rows and coins.
InProcess::Body stops(std::function<bool(const Input& input, TapeDraws& draws)> where, RowStatus status,
                      const std::string& message = "") {
  return [=](const Input& input, TapeDraws& draws) {
    if (where(input, draws)) throw StopRun{status, message};
    return RejectionSampling{}(input, draws);
  };
}

void expect_failed(const DistributionChecks& checks, const std::string& check, const std::string& instance,
                   const std::string& evidence) {
  const Finding& finding = finding_of(checks.findings, check);
  EXPECT_EQ(finding.status, Status::failed) << check;
  EXPECT_EQ(finding.tier, Tier::proof);
  EXPECT_EQ(finding.instance, instance);
  EXPECT_EQ(finding.evidence, evidence);
  EXPECT_EQ(finding.replay, "draftproof replay --adapter 'exec:mine' --instance '" + instance + "'");
}

TEST(DistributionChecks, RightProgramsHold) {
  for (const int bits : {24, 53}) {
    const DistributionChecks checks = distributions_of(RejectionSampling{}, bits);
    ASSERT_EQ(checks.findings.size(), 5u);
    expect_others_passed(checks, {});
    EXPECT_EQ(checks.instances, 60);
    EXPECT_GT(checks.calls, 100'000u);
    EXPECT_GE(checks.predictions, 256u * 60);
    EXPECT_LT(checks.largest, bits == 24 ? 4 * 0x1p-24 : 4 * 0x1p-52);
    EXPECT_FALSE(checks.farthest.empty());
  }
  const DistributionChecks positions = distributions_of(RejectionSampling{}, 24, Level::position);
  ASSERT_EQ(positions.findings.size(), 6u);
  EXPECT_EQ(positions.findings[4].property, "optimum");
  expect_others_passed(positions, {});
  EXPECT_EQ(positions.instances, 60);
}

/// A wrong program, the check that must fail, and another check that may fail too.
struct Wrong {
  std::string about;
  InProcess::Body body;
  int bits;
  std::string check, or_violated, instance, evidence;
};

/// Returns rejection sampling that fails if `fails` is true for its first two coins.
Wrong fails_on_coins(std::function<bool(double first, double second)> fails, const std::string& where,
                     const std::string& probability) {
  const std::string what = "ValueError: weights\ndo not sum to 1 (mine.py line 12)";
  const auto on_coins = [=](const Input&, TapeDraws& draws) {
    const double first = draws.coin();
    return fails(first, draws.coin());
  };
  const std::string evidence =
      "on drafts (0): fails with ValueError: weights do not sum to 1 (mine.py line 12), probability " + probability +
      " a decision: where " + where;
  const InProcess::Body body = stops(on_coins, RowStatus::failed, what);
  return {"fails where " + where, body, 25, "answers", "exact_distribution", "L=1 K=1 [] p=(1)/1 q=(1)/1", evidence};
}

/// Returns rejection sampling that overwrites the arrays `names` of its input if `where(input)` is true.
Wrong overwrites(const std::string& names, const std::string& instance, const std::string& drafts,
                 std::function<bool(const Input&)> where) {
  const auto body = [=](const Input& input, TapeDraws& draws) {
    if (where(input)) draws.overwrites(names);
    return RejectionSampling{}(input, draws);
  };
  const std::string evidence = "on drafts " + drafts + ": overwrites " + names;
  return {"overwrites " + names, body, 24, "inputs_unchanged", "", instance, evidence};
}

std::vector<Wrong> wrong_programs() {
  RejectionSampling mass_too_small, zero_for_nothing;
  mass_too_small.residual = [](const Weights& p, const Weights& q) {
    Weights weights = residual_of(p, q);
    for (double& weight : weights) weight = std::max(weight - .25, 0.0);
    return weights;
  };
  // As floats, the last 2^28 values of a 53-bit uniform round to 1; then u q < p fails although p = q, and the draft is
  // rejected.
  zero_for_nothing.accepts = [](double u, double p, double q) { return static_cast<float>(u) * q < p; };
  zero_for_nothing.last = [](Draws& draws, const Weights& weights, double) {
    return std::ranges::any_of(weights, [](double weight) { return weight > 0; }) ? draws.pick(weights) : 0;
  };
  const auto reused_coin = [](Draws&, const Weights& weights, double u) { return inverted(weights, u); };
  const auto rejects_one = [](const Input& input, TapeDraws& draws) {
    Tokens tokens = RejectionSampling{}(input, draws);
    if (input.vocabulary() > 1 && input.p[0][0] > 0 && input.p[0][1] > 0 && tokens.size() == 1)
      throw StopRun{RowStatus::failed};
    return tokens;
  };
  const std::string emits_zero = "on drafts (0): emits token 0 after [], which has p = 0, probability ";
  const std::string emits_nothing = "emits nothing with probability 1, TV 1, rounding explains 6e-07";
  const auto impossible = [](RowStatus status) {
    return stops([](const Input& in, TapeDraws&) { return in.p[0][0] == 0 && in.q[0][0] > 0; }, status);
  };
  return {
      // Token 1 is rejected with probability 1/2; the program then emits token 0 with probability 1/2 instead of 1.
      {"residual is p", RejectionSampling{.residual = residual_is_p}, 24, "exact_distribution", "",
       accepted_half_the_time, "token 0 after []: got 1/4, expected 1/2, TV 1/4, rounding explains 9e-07"},
      {"bonus of another row", RejectionSampling{.bonus_of_first_row = true}, 24, "exact_distribution",
       "zero_support", "L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(0 1)/1",
       "token 0 after [0]: got 1, expected 0, TV 1, rounding explains 6e-07"},
      // Token 1 is accepted if u < 1/2. The same u inverts the bonus row, so the bonus is always token 0.
      {"reused coin", RejectionSampling{.last = reused_coin}, 24, "exact_distribution", "", accepted_half_the_time,
       "token 0 after [1]: got 1/2, expected 1/4, TV 1/4, rounding explains 8e-07"},
      // The total variation is within the rounding limit, so exact_distribution passes.
      {"equal numbers", RejectionSampling{.accepts = accepts_equal_numbers}, 24, "zero_support", "", never_accepted,
       emits_zero + "2^-24 a decision: where coin 0 is 0 of 2^24 (0)"},
      {"equal numbers", RejectionSampling{.accepts = accepts_equal_numbers}, 53, "zero_support", "", never_accepted,
       emits_zero + "2^-53 a decision: where coin 0 is 0 of 2^53 (0)"},
      {"token 0 for nothing", zero_for_nothing, 53, "zero_support", "", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
       "on drafts (1): emits token 0 after [], which has p = 0, probability 2^-25 a decision: where coin 0 is "
       "9007198986305536 .. 9007199254740991 of 2^53 (0.99999997 .. 1)"},
      // The program lowers every entry of the residual by 1/4. Here the only entry is p - q = 1/6 at token 0, so no
      // mass is left.
      {"no mass", mass_too_small, 24, "answers", "exact_distribution", "L=1 K=1 [] p=(2 1)/3 q=(1 1)/2",
       "on drafts (1): draws from weights that are all zero, probability 0.333333 a decision: where coin 0 is "
       "11184811 .. 16777215 of 2^24 (0.66666669 .. 0.99999994)"},
      {"dies", impossible(RowStatus::crashed), 24, "answers", "exact_distribution", never_accepted,
       "on drafts (0): dies, probability 1 a decision"},
      {"dies", impossible(RowStatus::crashed), 24, "exact_distribution", "answers", never_accepted, emits_nothing},
      {"fails", impossible(RowStatus::failed), 24, "answers", "exact_distribution", never_accepted,
       "on drafts (0): fails, probability 1 a decision"},
      {"refuses", impossible(RowStatus::bad_input), 24, "answers", "exact_distribution", never_accepted,
       "on drafts (0): refuses the row, probability 1 a decision"},
      {"refuses", impossible(RowStatus::bad_input), 24, "exact_distribution", "answers", never_accepted,
       emits_nothing},
      {"fails on a rejection", rejects_one, 24, "answers", "exact_distribution", accepted_half_the_time,
       "on drafts (1): fails, probability 1/2 a decision: where coin 0 is 8388608 .. 16777215 of 2^24 (0.5 .. "
       "0.99999994)"},
      fails_on_coins([](double u, double) { return u == 1 - 0x1p-25; }, "coin 0 is 33554431 of 2^25 (0.99999997)",
                     "2^-25"),
      fails_on_coins([](double u, double v) { return u >= .5 && v < 0x1p-25; },
                     "coin 0 is 16777216 .. 33554431 of 2^25 (0.5 .. 0.99999997) and coin 1 is 0 of 2^25 (0)",
                     "2^-26"),
      fails_on_coins([](double, double v) { return v >= .75; },
                     "coin 1 is 25165824 .. 33554431 of 2^25 (0.75 .. 0.99999997)", "1/4"),
      overwrites("p", "L=1 K=1 [] p=(1)/1 q=(1)/1", "(0)", [](const Input&) { return true; }),
      overwrites("q, drafts", "L=2 K=1 [] p=(1)/1 q=(1)/1", "(0 0)",
                 [](const Input& input) { return input.drafts.size() > 1; }),
      overwrites("p, q", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1", "(1)",
                 [](const Input& input) { return input.drafts.front() == 1; }),
  };
}

TEST(DistributionChecks, WrongProgramsAreNamedOnTheSmallestInstance) {
  for (const Wrong& wrong : wrong_programs()) {
    SCOPED_TRACE(wrong.about);
    const DistributionChecks checks = distributions_of(wrong.body, wrong.bits);
    expect_failed(checks, wrong.check, wrong.instance, wrong.evidence);
    expect_others_passed(checks, {wrong.check, wrong.or_violated});
    const Finding& distribution = finding_of(checks.findings, "exact_distribution");
    if (wrong.about == "no mass") {
      EXPECT_EQ(distribution.status, Status::failed);
    }
    if (wrong.about == "token 0 for nothing")
      expect_others_passed(distributions_of(wrong.body, 24), {});  // right on that grid
    if (wrong.evidence.find("fails") == std::string::npos) continue;
    EXPECT_NE(distribution.status, Status::failed) << "the missing mass is no wrong distribution";
    if (wrong.about != "fails") continue;
    EXPECT_EQ(distribution.status, Status::undecided);  // the output of failed rows is unknown
    expect_words(distribution.evidence, "so the distribution of the others is not judged$");
    EXPECT_EQ(checks.instances, 60) << "other instances have a distribution";
  }
}

TEST(DistributionChecks, MoreAcceptedThanAnyVerifierCan) {
  const std::string instance = "p=(0 1)/1 q=(1 0)/1 K=1";
  const DistributionChecks checks = distributions_of(
      [](const Input& input, TapeDraws&) { return Tokens{input.drafts.front()}; }, 24, Level::position);
  expect_failed(checks, "optimum", instance, "accepts 1, the optimum is 0");
  expect_failed(checks, "exact_distribution", instance,
                "token 0 after []: got 1, expected 0, TV 1, rounding explains 6e-07");
  expect_others_passed(checks, {"optimum", "exact_distribution", "zero_support"});
}

/// Returns the first cell at which u is below the running sum, in float, of the weights (if `normalised`: of the
/// weights over their sum); the last cell if there is no such cell.
Token inverted_in_float(const Weights& weights, double u, bool normalised) {
  float total = 0, sum = 0;
  for (const double weight : weights) total += static_cast<float>(weight);
  for (std::size_t x = 0; x < weights.size(); ++x) {
    sum += normalised ? static_cast<float>(weights[x]) / total : static_cast<float>(weights[x]);
    if (static_cast<float>(u) < sum) return static_cast<Token>(x);
  }
  return static_cast<Token>(weights.size()) - 1;
}

TEST(DistributionChecks, LastCoinsRunPastTheLastCell) {
  for (const bool normalised : {false, true}) {
    RejectionSampling sampling;
    sampling.last = [&](Draws& draws, const Weights& weights, double) {
      const bool is_distribution = std::abs(1 - std::accumulate(weights.begin(), weights.end(), 0.0)) < 1e-6;
      return inverted_in_float(weights, draws.coin(), normalised || !is_distribution);
    };
    const DistributionChecks checks = distributions_of(sampling);
    const Finding& finding = finding_of(checks.findings, "zero_support");
    expect_failed(checks, "zero_support", finding.instance,
                  "on drafts (3): emits token 3 after [], which has p = 0, probability 2^-24 a decision: where "
                  "coin 1 is 16777215 of 2^24 (0.99999994)");
    // Two numbers that sum to 1 still sum to 1 after rounding to float. So the smallest instance has three tokens with
    // weight, and one token without weight that the largest coin selects.
    const PathInstance instance = PathInstance::parse(finding.instance);
    EXPECT_EQ(instance.vocabulary(), 4);
    EXPECT_EQ(instance.shape, (TreeShape{.drafts = 1, .length = 1}));
    EXPECT_EQ(instance.rows.size(), 1u);
    EXPECT_EQ(instance.after({}).target[3], 0);
    expect_others_passed(checks, {"zero_support"});
  }
}

TEST(DistributionChecks, HiddenState) {
  int calls = 0;
  const DistributionChecks checks = distributions_of([&](const Input& input, TapeDraws& draws) {
    Tokens tokens = RejectionSampling{}(input, draws);
    if (++calls % 3 == 0) tokens.pop_back();
    return tokens;
  });
  const Finding& finding = finding_of(checks.findings, "function");
  EXPECT_EQ(finding.status, Status::failed);
  const PathInstance instance = PathInstance::parse(finding.instance);
  EXPECT_LE(instance.vocabulary(), 2);
  EXPECT_EQ(instance.shape, (TreeShape{.drafts = 1, .length = 1}));
  expect_words(finding.evidence, "): equal calls have different results on the random numbers (0.");
  expect_others_passed(checks, {"function"});  // The other checks judge no distribution, because none is found.
}

TEST(DistributionChecks, DeviationThatRoundingExplainsHolds) {
  // This deviation is within the rounding limit of a program in bfloat16, and beyond the limit of a program in float32.
  RejectionSampling sampling;
  sampling.accepts = [](double u, double p, double q) { return u * q < p * (1 - 0x1p-9); };
  for (const auto& [dtype, status] : {std::pair{Dtype::bfloat16, Status::passed}, {Dtype::float32, Status::failed}}) {
    InProcess program(sampling);
    const DistributionChecks checks =
        check_distributions(program, {.name = "chain", .dtypes = {dtype}}, {.instances = 60});
    EXPECT_EQ(finding_of(checks.findings, "exact_distribution").status, status);
    EXPECT_EQ(checks.largest > 0x1p-12, status == Status::passed);
  }
}

TEST(DistributionChecks, ABugFromTheFifthDraftOnIsFound) {
  const DistributionChecks checks = distributions_of([](const Input& input, TapeDraws& draws) {
    const Tokens tokens = RejectionSampling{}(input, draws);
    return tokens.size() > 4 && input.drafts.size() > 4 ? Tokens(input.drafts.begin(), input.drafts.begin() + 5)
                                                        : tokens;
  });
  const Finding& finding = finding_of(checks.findings, "exact_distribution");
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_EQ(PathInstance::parse(finding.instance).shape.length, 5);
}

/// Returns rejection sampling that accepts too seldom: by `small` of p on two tokens, by `large` on more.
InProcess::Body accepts_less(double small, double large) {
  return [=](const Input& input, TapeDraws& draws) {
    RejectionSampling sampling;
    const double kept = 1 - (input.p.front().size() <= 2 ? small : large);
    sampling.accepts = [kept](double u, double p, double q) { return u * q < p * kept; };
    return sampling(input, draws);
  };
}

TEST(DistributionChecks, ALargeDepartureIsShownInPlaceOfALittleOne) {
  const DistributionChecks checks = distributions_of(accepts_less(0x1p-12, 0.5));
  const Finding& finding = finding_of(checks.findings, "exact_distribution");
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_EQ(PathInstance::parse(finding.instance).vocabulary(), 3) << finding.instance;
  EXPECT_LT(checks.calls, 100'000u) << "to confirm a departure of 2^-13 takes 42 2^13 predictions";
  // A little departure everywhere is confirmed after all other instances.
  const DistributionChecks little = distributions_of(accepts_less(0x1p-9, 0x1p-9));
  EXPECT_EQ(finding_of(little.findings, "exact_distribution").status, Status::failed);
}

TEST(DistributionChecks, ALittleDepartureThatIsNotConfirmedIsUndecided) {
  std::atomic<bool> stop = false;
  int calls = 0;
  InProcess program([&](const Input& input, TapeDraws& draws) {
    if (++calls == 20'000) stop = true;  // while the departure is confirmed, which takes more than 2^15 calls
    return accepts_less(0x1p-12, 0x1p-12)(input, draws);
  });
  const DistributionChecks checks = check_distributions(program, {.name = "chain"}, {.instances = 1, .stop = &stop});
  const Finding& finding = finding_of(checks.findings, "exact_distribution");
  EXPECT_EQ(finding.status, Status::undecided);
  expect_words(finding.evidence, " from the target was not confirmed$");
  EXPECT_FALSE(finding.instance.empty());
}

TEST(DistributionChecks, AWrongDistributionIsFoundBesideRowsThatFail) {
  const DistributionChecks checks = distributions_of([](const Input& input, TapeDraws& draws) {
    if (draws.coin() < 1. / 64) throw StopRun{RowStatus::failed, "OSError: no file"};
    return RejectionSampling{.residual = residual_is_p}(input, draws);
  });
  for (const char* check : {"exact_distribution", "answers"})
    EXPECT_EQ(finding_of(checks.findings, check).status, Status::failed);
}

TEST(DistributionChecks, AProgramThatFailsOnEveryInputIsAnError) {
  const auto after = [](std::function<void(const Input&, TapeDraws&)> draw) {
    return stops([=](const Input& input, TapeDraws& draws) { return draw(input, draws), true; }, RowStatus::failed,
                 "ValueError: no such table (mine.py line 12)");
  };
  const auto a_chain = [](const Input& input, TapeDraws& draws) { RejectionSampling{}(input, draws); };
  const auto sometimes_two = [](const Input&, TapeDraws& draws) {
    if (draws.coin() < .5) draws.integer(3);
  };
  for (const auto& body : {after([](const Input&, TapeDraws&) {}), after(a_chain), after(sometimes_two)})
    for (const int instances : {1, 60}) {
      InProcess program(body);
      expect_error<ProgramFails>([&] { check_distributions(program, {.name = "mine"}, {.instances = instances}); },
                                 "^mine fails on every input: ValueError: no such table (mine.py line 12)$");
    }
}

TEST(DistributionChecks, ReplaysOneInstance) {
  InProcess program(RejectionSampling{.residual = residual_is_p});
  const Declaration declaration{.name = "chain"};
  const std::string instance = "L=1 K=1 [] p=(1 3)/4 q=(0 1)/1";
  const DistributionChecks checks = check_distributions_on(program, declaration, instance, {.adapter = "exec:mine"});
  EXPECT_EQ(checks.instances, 1);
  // The program accepts token 1 with probability 3/4. Else it draws from p, not from the residual, so it emits token 0
  // with probability 1/4 * 1/4.
  expect_failed(checks, "exact_distribution", instance,
                "token 0 after []: got 1/16, expected 1/4, TV 3/16, rounding explains 9e-07");
  ASSERT_EQ(checks.distributions.size(), 3u);
  expect_words(checks.distributions[0], "^drafts (1), probability 1: (0) 1/16, (1) 3/16, (1 0) 3/16, (1 1) 9/16, ");
  // The next two lines name the coin that decides on acceptance, and the outcomes below and above its threshold 3/4.
  EXPECT_EQ(checks.distributions[1],
            "  place 0, coin, 0 .. 12582911 of 2^24, probability 3/4: (1 0) 3/16, (1 1) 9/16");
  EXPECT_EQ(checks.distributions[2],
            "  place 0, coin, 12582912 .. 16777215 of 2^24, probability 1/4: (0) 1/16, (1) 3/16");
  EXPECT_THROW(check_distributions_on(program, declaration, "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {}), AdapterError);
  EXPECT_THROW(check_distributions_on(program, declaration, "L=1 K=1", {}), std::invalid_argument);
  InProcess failing(stops([](const Input&, TapeDraws&) { return true; }, RowStatus::failed, "OSError: no file"));
  const DistributionChecks failed = check_distributions_on(failing, declaration, accepted_half_the_time, {});
  ASSERT_EQ(failed.distributions.size(), 1u);
  expect_words(failed.distributions[0], "^drafts (1), probability 1: status failed: OSError: no file 1, ");
}

TEST(DistributionChecks, SaysWhatItFoundInNumbers) {
  using Numbers = std::vector<std::pair<std::string, double>>;
  const auto numbers = [](const DistributionChecks& checks, const char* check) {
    return finding_of(checks.findings, check).numbers;
  };
  const DistributionChecks right = distributions_of(RejectionSampling{});
  EXPECT_EQ(numbers(right, "exact_distribution"), (Numbers{{"distance", right.largest}, {"limit", right.limit}}));
  EXPECT_LT(right.largest, right.limit);
  const Numbers wrong = numbers(distributions_of(RejectionSampling{.residual = residual_is_p}), "exact_distribution");
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_NEAR(wrong[0].second, 0.25, wrong[1].second);  // on the smallest instance
  EXPECT_LT(wrong[1].second, 1e-6);
  EXPECT_EQ(numbers(distributions_of(RejectionSampling{.accepts = accepts_equal_numbers}), "zero_support"),
            (Numbers{{"probability", 0x1p-24}}));
}

TEST(DistributionChecks, GivenInstancesComeFirstInTheirOrder) {
  std::vector<Input> asked;
  InProcess program([&](const Input& input, TapeDraws& draws) {
    if (asked.empty() || !(asked.back() == input)) asked.push_back(input);
    return RejectionSampling{}(input, draws);
  });
  // Instances in `first` keep their order, although both are larger than generated instances and the first is larger
  // than the second.
  const std::vector<std::string> first{"L=2 K=1 [] p=(1 2 3 4 5)/15 q=(1 0 0 0 0)/1",
                                       "L=1 K=1 [] p=(7 2)/9 q=(1 0)/1"};
  EXPECT_EQ(check_distributions(program, {.name = "chain"}, {.instances = 1, .first = first}).instances, 3);
  ASSERT_GE(asked.size(), 3u);
  EXPECT_EQ(asked[0].vocabulary(), 5);
  EXPECT_EQ(asked[1].p.size(), 2u);
  EXPECT_DOUBLE_EQ(asked[1].p[0][0], 7. / 9);
  EXPECT_EQ(check_distributions(program, {.name = "chain"}, {.instances = 0, .first = first}).instances, 2);
}

TEST(DistributionChecks, AnInstanceOfAnotherShapeIsRefused) {
  const std::string position = "p=(1 1)/2 q=(0 1)/1 K=1";
  check_instance({.name = "mine"}, accepted_half_the_time);
  check_instance({.name = "mine", .level = Level::position}, position);
  const auto refused = [](const Declaration& declaration, const std::string& text, const std::string& words) {
    const std::string error = error_of<InputError>([&] { check_instance(declaration, text); });
    expect_parts(error, {"--instance: got ", words});
  };
  refused({.name = "mine"}, position, "expected an instance of the level chain");
  refused({.name = "mine", .level = Level::position}, accepted_half_the_time,
          "expected an instance of the level position");
  refused({.name = "mine"}, "L=1 K=2 [] p=(1 1)/2 q=(0 1)/1",
          "expected an instance that the declaration of mine takes");
  refused({.name = "mine", .most_vocabulary = 2}, "L=1 K=1 [] p=(1 1 1)/3 q=(0 1 1)/2", "expected an instance that");
}

TEST(DistributionChecks, FewerDraftsAndPredictionsTakeFewerCalls) {
  const Declaration declaration{.name = "chain"};
  InProcess program(RejectionSampling{});
  const DistributionChecks usual = check_distributions(program, declaration, {.instances = 60});
  const DistributionChecks quick =
      check_distributions(program, declaration, {.instances = 60, .most_drafts = 2, .explore = {.predictions = 64}});
  EXPECT_EQ(quick.instances, 60);
  EXPECT_LT(quick.calls, 80'000u);
  EXPECT_LT(4 * quick.calls, usual.calls);
  for (int n = 0; n < 100; ++n) {
    EXPECT_LE(external_path_instance(declaration, 1, n, 2).shape.length, 2);
    EXPECT_LE(external_instance({.name = "tuples", .level = Level::position}, 1, n, 2).drafts, 2);
  }
  // A program that requires three drafts gets three, although the limit is two.
  EXPECT_EQ(external_path_instance({.name = "chain", .fewest_drafts = 3}, 1, 0, 2).shape.length, 3);
}

TEST(DistributionChecks, StopsWhenItIsTold) {
  InProcess program(RejectionSampling{});
  std::atomic<bool> stop = false;
  int seen = 0;
  const DistributionChecks checks =
      check_distributions(program, {.name = "chain"},
                          {.stop = &stop, .progress = [&](int instances) { stop = (seen = instances) == 3; }});
  EXPECT_EQ(checks.instances, 3);
  EXPECT_EQ(seen, 3);
}

/// Returns rejection sampling that throws an error after `left` runs.
template <class Error>
InProcess::Body lost_after(std::uint64_t& left, RejectionSampling sampling = {}) {
  return [&left, sampling](const Input& input, TapeDraws& draws) {
    if (left == 0) throw Error("the time limit of 30 s is over");
    --left;
    return sampling(input, draws);
  };
}

TEST(DistributionChecks, WhatASilentProgramLeavesOpenIsUndecided) {
  const std::uint64_t all = distributions_of(RejectionSampling{}).calls;
  for (std::uint64_t left : {std::uint64_t{0}, std::uint64_t{5}, all / 2}) {
    const DistributionChecks checks = distributions_of(lost_after<ProgramSilent>(left));
    ASSERT_EQ(checks.findings.size(), 5u);
    for (const Finding& finding : checks.findings) {
      EXPECT_EQ(finding.status, Status::undecided) << finding.property;
      EXPECT_EQ(finding.evidence, "the time limit of 30 s is over");
    }
    EXPECT_LT(checks.instances, 60);
  }
  // The program stops answering after half of the calls of a complete run. The failure found before then is kept.
  const RejectionSampling edge{.accepts = accepts_equal_numbers};
  std::uint64_t left = distributions_of(edge).calls / 2;
  const DistributionChecks checks = distributions_of(lost_after<ProgramSilent>(left, edge));
  EXPECT_EQ(finding_of(checks.findings, "zero_support").status, Status::failed);
  EXPECT_FALSE(finding_of(checks.findings, "zero_support").replay.empty());
  for (const char* check : {"exact_distribution", "answers", "function", "inputs_unchanged"})
    EXPECT_EQ(finding_of(checks.findings, check).status, Status::undecided);
}

TEST(DistributionChecks, ADistributionIsKeptAsFarAsItWasFound) {
  const Input input{.p = {{.5, .5}, {.5, .5}}, .q = {{.25, .75}}, .drafts = {1}};
  for (const std::uint64_t runs : {0u, 40u, 300u}) {
    std::uint64_t left = runs;
    InProcess program(lost_after<ProgramSilent>(left));
    const ProgramDistribution distribution = distribution_of(program, input);
    EXPECT_EQ(distribution.state, DistributionState::unsettled);
    EXPECT_EQ(distribution.silent, "the time limit of 30 s is over");
    EXPECT_EQ(distribution.remarks.back(), distribution.silent);
    double known = distribution.unexplored;
    for (const OutcomeMass& each : distribution.outcomes) known += each.probability;
    EXPECT_DOUBLE_EQ(known, 1);
    if (runs == 300) {  // After 300 runs the tree is complete and only predictions are left.
      EXPECT_NEAR(distribution.of({0}), 1. / 3, 1e-6);
    }
  }
}

TEST(DistributionChecks, LostProgramsNameTheInstance) {
  int rows = 0;
  const DistributionChecks checks = distributions_of([&](const Input& input, TapeDraws& draws) {
    if (input.vocabulary() > 2) throw AdapterError("mine: got 3 rows that kill the program");
    ++rows;
    return RejectionSampling{}(input, draws);
  });
  ASSERT_EQ(checks.findings.size(), 1u) << "nothing is said of the instances that follow";
  expect_failed(checks, "protocol", checks.findings[0].instance, "mine: got 3 rows that kill the program");
  EXPECT_GT(PathInstance::parse(checks.findings[0].instance).vocabulary(), 2);
  EXPECT_GT(checks.instances, 0);
  EXPECT_GT(rows, 0);
}

TEST(DistributionChecks, FindingsStandWhereTheProgramIsLostLater) {
  const RejectionSampling wrong{.residual = residual_is_p};
  const DistributionChecks whole = distributions_of(wrong);
  auto left = whole.calls;  // so that the program is lost when the search for a smaller instance begins
  const DistributionChecks checks = distributions_of(lost_after<AdapterError>(left, wrong));
  EXPECT_EQ(finding_of(checks.findings, "exact_distribution").status, Status::failed);
  EXPECT_FALSE(finding_of(checks.findings, "exact_distribution").instance.empty());
  EXPECT_EQ(checks.calls, whole.calls);
}

TEST(DistributionChecks, DrawsWithoutEndAreUndecided) {
  // The program never stops drawing. On tapes longer than the longest explored tape its output is unknown.
  const DistributionChecks checks = distributions_of([](const Input&, TapeDraws& draws) {
    while (draws.coin() < 1) {
    }
    return Tokens{0};
  });
  EXPECT_EQ(finding_of(checks.findings, "exact_distribution").evidence,
            "8 instances: 1 of the probability was not explored");
  for (const char* check : {"exact_distribution", "zero_support", "answers"})
    EXPECT_EQ(finding_of(checks.findings, check).status, Status::undecided);
  EXPECT_EQ(finding_of(checks.findings, "function").status, Status::passed);
  EXPECT_EQ(checks.instances, 8) << "a program is given up after eight instances without a decision";
  EXPECT_LT(checks.calls, 8 * 9 * 300) << "an input of which no call ends has few";
}

TEST(DistributionChecks, DrawsUntilOneFitsAreUndecidedInBoundedTime) {
  for (const bool wrong : {false, true}) {
    InProcess program([wrong](const Input& input, TapeDraws& draws) {
      for (std::size_t i = 0; i < input.drafts.size(); ++i) {
        const auto x = static_cast<std::size_t>(input.drafts[i]);
        if (draws.coin() * input.q[i][x] < input.p[i][x]) continue;
        for (;;) {
          const auto y = static_cast<std::size_t>(draws.pick(input.p[i]));
          const double coin = draws.coin();
          if (wrong ? coin < .5 : !(coin * input.p[i][y] < input.p[i][y] - input.q[i][y])) continue;
          Tokens tokens(input.drafts.begin(), input.drafts.begin() + static_cast<std::ptrdiff_t>(i));
          tokens.push_back(static_cast<Token>(y));
          return tokens;
        }
      }
      Tokens tokens = input.drafts;
      tokens.push_back(draws.pick(input.p.back()));
      return tokens;
    });
    const DistributionChecks checks = check_distributions(
        program, {.name = "mine"}, {.instances = 20, .most_drafts = 2, .seed = 3, .explore = {.most_calls = 4000}});
    const Finding& distribution = finding_of(checks.findings, "exact_distribution");
    EXPECT_EQ(distribution.status, wrong ? Status::failed : Status::undecided) << distribution.evidence;
    if (wrong) continue;
    expect_words(distribution.evidence, " of the probability was not explored$");
    EXPECT_LT(checks.calls, 120'000u) << "the budget, calls of decided instances and one instance beyond it";
  }
}

}  // namespace
}  // namespace draftproof::adapters
