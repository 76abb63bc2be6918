// A foreign program of chains or trees as a registered verifier of paths: steps of surveys run through its door, one row a
// step. A seed is drawn from the trial's own words, so trials do not depend on threads.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <draftproof/doors/gate/foreign_verifier.hpp>
#include <draftproof/doors/wire/served.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof::doors {

class ForeignPathVerifier final : private ForeignInfo, public AnyPathVerifier {
 public:
  /// Requires a program of level chain or tree that is seeded or opaque. `name` is that in lists.
  ForeignPathVerifier(std::shared_ptr<Served> program, std::string name);

  using AnyPathVerifier::info;

  On<RatioTable, Philox> simulate_on(const ConditionalModel<RatioTable>& conditionals,
                                     const TreeShape& shape) const override;

 private:
  std::shared_ptr<Served> program_;
  std::shared_ptr<std::mutex> one_at_a_time_ = std::make_shared<std::mutex>();
};

}  // namespace draftproof::doors
