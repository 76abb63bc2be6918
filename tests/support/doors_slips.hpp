// Token verification of a chain whose parts a test replaces by wrong ones, and what the laws of a program in this process
// say of it.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <draftproof/doors/gate/law_checks.hpp>
#include <draftproof/tests/support/doors_in_process.hpp>

namespace draftproof::doors::slips {

using Weights = std::vector<double>;

/// Token verification of a chain, with parts that a test replaces.
struct Chain {
  std::function<bool(double u, double p, double q)> accepts = [](double u, double p, double q) { return u * q < p; };
  std::function<Weights(const Weights& p, const Weights& q)> residual = residual_of;
  std::function<Token(TapeDraws& draws, const Weights& weights, double u)> last =
      [](TapeDraws& draws, const Weights& weights, double) { return draws.pick(weights); };
  bool bonus_of_last_draft = false;

  std::vector<Token> operator()(const Input& input, TapeDraws& draws) const {
    const std::size_t n = input.drafts.size();
    double u = 0;
    for (std::size_t i = 0; i < n; ++i) {
      u = draws.coin();
      const auto x = static_cast<std::size_t>(input.drafts[i]);
      if (accepts(u, input.p[i][x], input.q[i][x])) continue;
      std::vector<Token> tokens(input.drafts.begin(), input.drafts.begin() + static_cast<std::ptrdiff_t>(i));
      tokens.push_back(last(draws, residual(input.p[i], input.q[i]), u));
      return tokens;
    }
    std::vector<Token> tokens = input.drafts;
    tokens.push_back(last(draws, input.p[bonus_of_last_draft ? n - 1 : n], u));
    return tokens;
  }
};

inline LawChecks laws_of(InProcess::Body body, int bits = 24, Level level = Level::chain) {
  InProcess program(std::move(body), bits);
  const Declaration declaration{.name = "chain", .level = level, .coin_bits = bits};
  return check_laws(program, declaration, {.instances = 60, .door = "exec:mine"});
}

inline const GateFinding& law_finding(const LawChecks& checks, const std::string& check) {
  for (const GateFinding& finding : checks.findings)
    if (finding.check == check) return finding;
  ADD_FAILURE() << "no finding " << check;
  return checks.findings.front();
}

inline void expect_violated(const LawChecks& checks, const std::string& check, const std::string& instance,
                            const std::string& evidence) {
  const GateFinding& finding = law_finding(checks, check);
  EXPECT_EQ(finding.status, Status::violated) << check;
  EXPECT_EQ(finding.tier, Tier::proof);
  EXPECT_EQ(finding.instance, instance);
  EXPECT_EQ(finding.evidence, evidence);
  EXPECT_EQ(finding.replay, "draftproof replay --door 'exec:mine' --instance '" + instance + "'");
}

/// All checks that are not in `violated` hold.
inline void expect_others_held(const LawChecks& checks, const std::vector<std::string>& violated) {
  for (const GateFinding& finding : checks.findings)
    if (std::find(violated.begin(), violated.end(), finding.check) == violated.end()) {
      EXPECT_EQ(finding.status, Status::held) << finding.check << ": " << finding.evidence;
    }
}

}  // namespace draftproof::doors::slips
