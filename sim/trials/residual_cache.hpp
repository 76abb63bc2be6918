// Laws as the trials of one batch read them: results of one trial are kept for the next, which mostly needs the same.
//
//   n-th mass     residual_mass of the n-th call of a trial: with replacement, the same b in every trial
//   residual      the one last drawn from; a residual that recurs often enough gets a guide
//
// Cost: a comparison a call where b recurs; as without a cache where it does not. The comparison is predicted, so a
// chain of residuals does not wait for its own masses.
// Correctness: a result is reused only for the same b, so the tokens are those of the laws.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/position.hpp>

namespace draftproof {

/// The guide that all batches of a decider share. Laws without a cache share nothing.
template <class L>
struct SharedGuide {};

template <>
class SharedGuide<RatioTable> {
 public:
  /// The guide of this residual, null if there is none.
  const ResidualGuide* guide(double b, double clip_ratio) const {
    const Guided* guided = guided_.load(std::memory_order_acquire);
    return guided != nullptr && guided->b == b && guided->clip_ratio == clip_ratio ? &guided->guide : nullptr;
  }

  /// Records that a batch drew `times` times, all from `residual`. One guide is made, for the first residual that
  /// recurs often enough: a scheme whose residual depends on the drafts would need one guide per trial.
  void drawn(const RatioTable::Residual& residual, std::uint64_t times, const RatioTable& laws) const {
    if (guided_.load(std::memory_order_relaxed) != nullptr) return;
    // A guide costs about two bisections a cell.
    if (draws_.fetch_add(times, std::memory_order_relaxed) < ResidualGuide::cells_for(laws.order().size())) return;
    const std::unique_lock lock(making_, std::try_to_lock);
    if (!lock || kept_) return;
    kept_ = std::make_unique<const Guided>(Guided{residual.b(), residual.clip_ratio(), residual.guide()});
    guided_.store(kept_.get(), std::memory_order_release);
  }

 private:
  struct Guided {
    double b, clip_ratio;
    ResidualGuide guide;
  };
  mutable std::atomic<std::uint64_t> draws_{0};
  mutable std::mutex making_;
  mutable std::unique_ptr<const Guided> kept_;
  mutable std::atomic<const Guided*> guided_{nullptr};
};

/// Positions of one trial after the other. Laws other than a ratio table are used without a cache.
template <class L>
class ResidualCache {
 public:
  ResidualCache(const L& laws, const SharedGuide<L>&) : laws_{laws} {}
  /// The position of the next trial.
  DraftedPosition<L> trial(const Token* drafts, int count) { return {laws_, drafts, count}; }

 private:
  const L& laws_;
};

template <>
class ResidualCache<RatioTable> {
 public:
  class CachedPosition : public DraftedPosition<RatioTable> {
   public:
    CachedPosition(ResidualCache& cache, const Token* drafts, int count)
        : DraftedPosition(cache.laws_, drafts, count), recalled_{&cache} {}
    double residual_mass(double b) const { return recalled_->residual_mass(b); }
    RatioTable::Residual residual(double b) const {
      return recalled_->residual(b, std::numeric_limits<double>::infinity());
    }
    RatioTable::Residual clipped(double b, double clip_ratio) const { return recalled_->residual(b, clip_ratio); }

   private:
    ResidualCache* recalled_;
  };

  ResidualCache(const RatioTable& laws, const SharedGuide<RatioTable>& recurring)
      : laws_{laws}, shared_guide_{recurring} {
    for (Mass& mass : masses_) mass.b = std::numeric_limits<double>::quiet_NaN();  // equals nothing
  }
  ~ResidualCache() {
    if (draws_ > 0 && changes_ == 1) shared_guide_.drawn(*residual_, draws_, laws_);
  }
  ResidualCache(const ResidualCache&) = delete;
  ResidualCache& operator=(const ResidualCache&) = delete;

  CachedPosition trial(const Token* drafts, int count) {
    calls_ = 0;
    return {*this, drafts, count};
  }

 private:
  struct Mass {
    double b, mass;
    std::size_t reach;
  };

  double residual_mass(double b) {
    if (calls_ == max_drafts) return laws_.residual_mass(b);
    Mass& known = masses_[calls_++];
    if (known.b != b) {
      known.b = b;
      known.reach = laws_.prefix_length(b);
      known.mass = laws_.residual_mass(b, known.reach);
    }
    return known.mass;
  }

  RatioTable::Residual residual(double b, double clip_ratio) {
    ++draws_;
    if (residual_ && residual_->b() == b && residual_->clip_ratio() == clip_ratio) return *residual_;
    ++changes_;
    const bool walked = std::isinf(clip_ratio) && calls_ > 0 && masses_[calls_ - 1].b == b;
    residual_ = walked                   ? laws_.residual(b, masses_[calls_ - 1].reach)
                : std::isinf(clip_ratio) ? laws_.residual(b)
                                         : laws_.clipped(b, clip_ratio);
    residual_->lead(shared_guide_.guide(b, clip_ratio));
    return *residual_;
  }

  const RatioTable& laws_;
  const SharedGuide<RatioTable>& shared_guide_;
  Mass masses_[max_drafts];
  int calls_ = 0;
  std::optional<RatioTable::Residual> residual_;
  std::uint64_t draws_ = 0, changes_ = 0;
};

}  // namespace draftproof
