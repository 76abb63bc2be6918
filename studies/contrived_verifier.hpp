// Verifiers made for a study and never registered: wrong programs that are not a scheme of this repository.
//
//   RuledVerifier   decides by a function of (laws, drafts, random)
//   MisledVerifier  a correct scheme that is given other laws than its drafts were drawn from
//
// They support simulation on prepared tables only: no exploration, no scripted runs, no fresh rows. Their power is
// measured by trials.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

class ContrivedVerifier : public AnyVerifier {
 public:
  ContrivedVerifier() : AnyVerifier(contrived, Kind::mutant) {}

 private:
  static constexpr Info contrived{.name = "contrived", .summary = "made for a study", .source = "derived here"};
};

class RuledVerifier final : public ContrivedVerifier {
 public:
  using Rule = std::function<Verdict(const RatioTable&, std::span<const Token> drafts, Philox& random)>;
  explicit RuledVerifier(Rule rule) : rule_{std::move(rule)} {}

  using ContrivedVerifier::simulate_on;
  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable& laws, int) const override {
    return std::make_unique<Ruled>(rule_, laws);
  }

 private:
  class Ruled final : public Decider<RatioTable, Philox> {
   public:
    Ruled(const Rule& rule, const RatioTable& laws) : rule_{rule}, laws_{laws} {}
    void decide(const TrialBatch& batch, Verdict* verdicts) const override {
      for (int t = 0; t < batch.count; ++t) {
        Philox random(batch.seed, batch.first + static_cast<std::uint64_t>(t), Philox::Role::verify);
        const std::span drafts(batch.drafts + t * batch.stride, static_cast<std::size_t>(batch.lengths[t]));
        verdicts[t] = rule_(laws_, drafts, random);
      }
    }

   private:
    const Rule& rule_;
    const RatioTable& laws_;
  };
  Rule rule_;
};

class MisledVerifier final : public ContrivedVerifier {
 public:
  MisledVerifier(const AnyVerifier& scheme, RatioTable told) : scheme_{scheme}, told_{std::move(told)} {}

  using ContrivedVerifier::simulate_on;
  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable&, int drafts) const override {
    return scheme_.simulate_on(told_, drafts);
  }

 private:
  const AnyVerifier& scheme_;
  RatioTable told_;
};

}  // namespace draftproof
