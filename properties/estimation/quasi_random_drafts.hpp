// Draft tuples as functions of points in a cube, with one coordinate a draft, for laws of such a form; plain trials
// of the drafter for all other laws.
//
//   independent draws          draft k is the quantile of its proposal at coordinate k
//   without replacement        the quantile of the mass that the earlier drafts leave
//   any other law              trial n of the drafter itself; tuples of one seed are independent
//
// A law of shared noise has the form of its marginal law, the law of its drafts without knowledge of the noise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/properties/estimation/ratio_quantile.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>

namespace draftproof {

class DraftPoints {
 public:
  enum class Form { independent, without_replacement, trials };

  /// Requires that the law is defined for these arguments; refers to all of them.
  DraftPoints(const AnyDrafter& drafter, const RatioTable& table, int drafts)
      : drafter_{drafter}, table_{table}, drafts_{drafts}, form_{form_of(drafter.info())} {
    if (form_ == Form::trials) return;
    const int rows = drafter.info().several_proposals ? std::min(drafts, table.proposals()) : 1;
    for (int k = 0; k < rows; ++k) quantiles_.emplace_back(table, k);
  }

  Form form() const { return form_; }
  int drafts() const { return drafts_; }
  const RatioTable& table() const { return table_; }
  /// Number of leading drafts whose marginal law is a proposal: q, or the k-th of several.
  int plain_drafts() const {
    return form_ == Form::independent ? drafts_ : form_ == Form::without_replacement ? 1 : 0;
  }

  /// The proposal of draft k.
  int row(int k) const { return drafter_.info().several_proposals ? k : 0; }

  /// Writes the tuple at the point `words` / 2^64, or trial `index` of `seed`; returns its length.
  int draw(const std::uint64_t* words, std::uint64_t seed, std::uint64_t index, Token* out) const {
    if (form_ == Form::trials) {
      int length = 0;
      drafter_.draw(table_, drafts_, {seed, index, 1, drafts_, out, &length});
      return length;
    }
    for (int k = 0; k < drafts_; ++k) {
      if (form_ == Form::independent) {
        out[k] = quantiles_[quantiles_.size() == 1 ? 0 : static_cast<std::size_t>(k)].draw(words[k]);
        continue;
      }
      out[k] = quantiles_.front().draw_without(out, seen(out, k), words[k]);
      if (out[k] != no_token) continue;
      if (!drafter_.info().needs_k_tokens) return k;
      out[k] = UniformOnComplement(table_.vocabulary(), out, k).draw(words[k]);
    }
    return drafts_;
  }

 private:
  static Form form_of(const DrafterInfo& info) {
    const std::string_view law = info.shared_noise() ? info.marginal_law_of : info.name;
    if (law == "iid" || law == "independent") return Form::independent;
    if (law == "without_replacement" || law == "without_replacement_uniform") return Form::without_replacement;
    return Form::trials;
  }
  /// Number of leading drafts up to the last one with q > 0; later ones were drawn after q ran out.
  int seen(const Token* out, int k) const {
    while (k > 0 && !(table_.proposal(out[k - 1]) > 0)) --k;
    return k;
  }

  const AnyDrafter& drafter_;
  const RatioTable& table_;
  int drafts_;
  Form form_;
  std::vector<RatioQuantile> quantiles_;
};

}  // namespace draftproof
