// A program under test that can only be called: a verifier in another language, library or engine. It runs on inputs
// that the host sends and on random numbers that the host chooses, and reports its draws.
//
//   input   rows of target and proposal, drafts                 Input
//   tape    the value of each random number, in order of use    Call::tape
//   run     emitted tokens and the draws that were made         Run
//
// An entry of the tape is one random number. The log of a run records the kind of each draw:
//
//   kind      value v in [0, 1)                          forced, v < 0
//   coin      the uniform itself, a multiple of 2^-bits  not used
//   pick      first cell with v * total < its prefix sum  cell -v - 1
//   clock     exponential -log1p(-v)                     -v
//   integer   floor(v * n)                               -v - 1
//
// A race of n exponentials takes n consecutive entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <draftproof/captures/filter.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::adapters {

enum class DrawKind : std::int32_t { coin = 1, pick = 2, clock = 3, integer = 4 };

/// One random number that a run took from its tape.
struct Draw {
  DrawKind kind = DrawKind::coin;
  int size = 0;                   ///< cells of a pick, n of an integer, clocks of a race (0 after its first clock)
  int bits = 24;                  ///< bits of a coin, which is a multiple of 2^-bits
  std::string stream{};           ///< name of the stream, if the program names it
  std::vector<double> weights{};  ///< `size` weights of a pick, not normalised

  bool operator==(const Draw&) const = default;
};

enum class RowStatus : std::int32_t {
  ok = 0,
  bad_input = 1,    ///< the program refused the row
  unsupported = 2,  ///< the program does not serve such rows
  failed = 3,       ///< an exception or internal error of the program
  no_mass = 4,      ///< a draw from weights that are all zero or not finite
  tape_short = 5,   ///< the program draws more numbers than the tape has; the log ends with the tape
  crashed = 6,      ///< the process ended, or was ended, on this row; set by the host only
};

/// The input of one row of a batch. Shapes by level, for n drafted tokens and rows of V entries:
///
///   level      p        q            drafts  parents
///   position   1        1 or n       n       -
///   chain      n + 1    n            n       -
///   tree       n + 1    n            n       n, -1 for a child of the root
///
/// Row 0 of p is the target at the root and row i + 1 the target after draft i; row i of q is the proposal that draft
/// i was drawn from.
struct Input {
  std::vector<std::vector<double>> p, q;
  std::vector<Token> drafts;
  std::vector<int> parents{};
  /// For a program under a grammar, for each row of p: 1 where the grammar allows the token, else 0; empty: all are
  /// allowed. The mask is not applied to the rows of p.
  std::vector<std::vector<std::int32_t>> legal{};
  Filter settings{};            ///< settings that the program applies; the rows of p are unfiltered
  std::vector<double> state{};  ///< state that the previous call returned; zeros in a first call

  int vocabulary() const { return static_cast<int>(p.front().size()); }
  bool operator==(const Input&) const = default;
};

/// One run: the number of its input, and the tape.
struct Call {
  std::size_t input = 0;
  std::vector<double> tape{};
};

struct Run {
  RowStatus status = RowStatus::ok;
  std::vector<Token> tokens{};  ///< emitted: accepted drafts, then one more
  std::vector<double> state{};  ///< if status is ok, the state for the next call
  std::vector<Draw> draws{};    ///< one draw for each used entry of the tape, in order
  std::string message{};        ///< message of the program if status is not ok
  std::string overwrote{};      ///< names of the arrays of the row that the program changed in place
};

/// A program that takes scripted random numbers.
class Program {
 public:
  virtual ~Program() = default;
  /// Runs all calls on `inputs`, in batches of any size. runs[i] is the result of calls[i].
  /// Throws: AdapterError if the program cannot be reached any more, or breaks the protocol.
  virtual void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) = 0;
  /// Like run(), but the batches do not depend on time: a batch ends only if the program takes no more rows, at the
  /// limit of bytes, or where the shape changes. run() may choose batches by the time of replies, so a result that
  /// depends on the other rows of its batch could change between two runs.
  virtual void run_together(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) {
    run(inputs, calls, runs);
  }
  /// Returns the batches so far that the program refused, or on which it ended or sent no message, although each of
  /// their rows alone was answered; one line each.
  virtual std::span<const std::string> unexplained() const { return {}; }
};

/// Starts the program again, so that a replay line is tested without earlier calls. The function is empty if the
/// program cannot be started again; replays then use the running program. Throws: AdapterError.
using FreshProgram = std::function<std::shared_ptr<Program>()>;

/// Text that is appended to the evidence of a failure that depends on earlier calls.
inline constexpr const char* needs_earlier_calls = "; it depends on earlier calls: alone the program passes";

}  // namespace draftproof::adapters
