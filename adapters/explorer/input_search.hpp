// The exploration of one input: builds the tree node by node, largest mass first, then predicts runs and refines the
// tree along the path of each wrong prediction. ask() returns the runs that are needed, and take() receives them, as
// in PlaceSearch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/explorer/place_search.hpp>
#include <draftproof/adapters/explorer/run_store.hpp>
#include <draftproof/adapters/explorer/suggested_points.hpp>

namespace draftproof::adapters {

class InputSearch {
 public:
  /// A run that the search needs.
  struct Request {
    enum class What : std::uint8_t { start, place, prediction };
    What what = What::start;
    std::uint32_t number = 0;  ///< number of the witness, node or prediction
    Ask ask{};                 ///< the node's request, if `what` is place
  };

  InputSearch(const Input& input, const ExploreOptions& options);
  InputSearch(const InputSearch&) = delete;
  InputSearch& operator=(const InputSearch&) = delete;

  /// Appends the runs that are needed next; if it appends none, the search is done.
  void ask(std::vector<Request>& requests);
  /// Writes the tape of a request. It has `length` places, or more if the request fixes the values of more places.
  void write_tape(const Request& request, std::size_t length, std::vector<double>& tape) const;
  /// Returns a tape length that sufficed for earlier runs.
  std::size_t likely_length() const;
  /// Stores a run for take(). `tape` is the length of its tape.
  RunStore::Chain store(const Run& run, std::size_t tape) {
    ended_ |= run.status != RowStatus::tape_short;
    return store_.add(run, tape);
  }
  void take(const Request& request, RunStore::Chain run, std::span<const double> tape);
  void count_calls(std::size_t calls) { calls_ += calls; }
  /// Ends the search: two runs on this tape had different results.
  void refute_function(std::span<const double> tape);

  ProgramDistribution distribution() const;

 private:
  struct Prediction {
    Sequence sequence;
    RunStore::Chain run;
  };
  enum class Phase { start, building, predicting, done };

  SearchContext context();
  /// Whether more calls are allowed. A program that never ends within a tape has no tree to find, so it gets few calls.
  bool calls_left() const {
    constexpr std::size_t few = 64;
    return tree_calls_ < (ended_ ? options_.most_calls : std::min(few, options_.most_calls));
  }
  void make_root();
  Target make_node(std::vector<double> prefix, std::vector<Known> known, double mass);
  void build(std::vector<Request>& requests);
  bool open_next(std::vector<std::uint32_t>& nodes);
  void finish(std::uint32_t number, std::vector<std::uint32_t>& nodes);
  void pass_witness(std::uint32_t number, std::uint32_t witness, std::size_t known_nodes,
                    std::vector<std::uint32_t>& nodes);
  void remark(std::string_view text);

  bool judge();
  bool follow_up(const Prediction& prediction);
  void predict(std::vector<Request>& requests);
  Sequence at_the_edges(std::uint64_t seed) const;

  const Input& input_;
  const ExploreOptions& options_;
  RunStore store_;
  SuggestedPoints suggested_;
  std::vector<Sequence> witnesses_;
  std::vector<Known> at_root_;
  Phase phase_ = Phase::start;

  DecisionTree tree_;
  std::vector<std::unique_ptr<PlaceSearch>> searches_;  // of the tree's nodes
  std::vector<double> masses_;
  std::vector<std::vector<std::uint32_t>> passing_;  // witnesses that continue to a child, by node
  std::vector<std::uint32_t> active_;                // nodes that wait for runs
  std::priority_queue<std::pair<double, std::uint32_t>> frontier_;

  std::vector<Prediction> predictions_;
  bool refined_ = false;  // whether a wrong prediction refined the tree since `predictions_` were made
  std::size_t held_ = 0, unjudged_ = 0, tried_ = 0;
  std::uint64_t next_seed_ = 0;

  std::size_t calls_ = 0, tree_calls_ = 0;
  bool ended_ = false;       ///< whether some run ended before it had used up its tape
  std::size_t longest_ = 0;  // length of the longest run, in places
  bool function_ = true, settled_ = true;
  std::vector<double> tape_;
  std::vector<std::string> remarks_;
};

}  // namespace draftproof::adapters
