// A program that is called by the wire protocol: the host's side of an adapter that is given by a command line or a
// socket.
//
//   run       scripted calls, in batches whose size adapts to the program's speed
//   verify    one unchanged batch: with seeds or without, rows of any size, not converted
//   draft     drafts of the program's drafter
//   generate  a text from two Markov tables
//   select    the drafts of a batch that a selection policy keeps
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/dialogue.hpp>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

struct WireOptions : DialogueOptions {
  std::optional<Dtype> dtype{};   ///< dtype of rows in run(); empty: the first that the program declares
  std::optional<RowKind> kind{};  ///< kind of rows in run(); empty: the first that the program declares
  std::size_t most_bytes = std::size_t{64} << 20;  ///< most bytes of a request of run() and the largest reply to it
};

class WireProgram final : public Program, public Served {
 public:
  /// Starts the program, or connects to it, and reads its declaration. Throws: AdapterError if it sends nothing
  /// within the limit, has another major version, or does not declare the dtype or kind of `options`.
  explicit WireProgram(const Address& address, WireOptions options = {});

  /// The program's declaration; most_vocabulary is at most 64 in JSON Lines.
  const Declaration& declaration() const override { return dialogue_.declaration(); }

  /// Calls beyond the declared limits get the status unsupported. A run that draws more numbers than its tape has gets
  /// the status tape_short; its log has the draws for which the tape had values.
  /// Throws: AdapterError as Dialogue::answer does, and if the program does not declare scripted randomness or an
  /// input does not fit the level that the program declares (position, chain or tree).
  /// Cost: some microseconds per call beside the program's time.
  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    run_calls(inputs, calls, runs, false);
  }
  void run_together(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    run_calls(inputs, calls, runs, true);
  }

  /// Sends `batch` unchanged. Throws: AdapterError as Dialogue::answer does, and if a span does not fit its shape.
  void verify(const ServedBatch& batch, ServedResult& result) override { ask(batch, WireFunction::verify, result); }

  /// Draws drafts for each row of `batch`. Each row has one row of q and neither p nor drafts. Throws as verify().
  void draft(const ServedBatch& batch, ServedResult& result) override { ask(batch, WireFunction::draft, result); }

  /// Returns `models.length` tokens. Throws: AdapterError.
  std::vector<Token> generate(const ServedModels& models) override;

  /// Returns a text for each prompt. Throws: AdapterError.
  std::vector<std::vector<Token>> generate_requests(const ServedModels& models) override;

  /// Returns the drafts that the program's policy keeps. Throws: AdapterError, also if it keeps a draft without its
  /// parent.
  std::vector<std::vector<std::uint8_t>> select(const ServedSelection& selection) override;

  /// Returns the losses of the process or connection so far, one line each.
  const std::vector<std::string>& incidents() const { return dialogue_.incidents(); }
  std::span<const std::string> unexplained() const override { return dialogue_.unexplained(); }

 private:
  void ask(const ServedBatch& batch, WireFunction ask, ServedResult& result);
  std::vector<std::vector<Token>> texts(Message request, const ServedModels& models, std::span<const int> lengths);
  void run_calls(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs, bool together);
  std::size_t next_batch(std::span<const Input> inputs, std::span<const Call> calls,
                         std::span<const std::size_t> order, std::size_t most) const;
  void keep_pace(std::size_t rows, double seconds);
  void require(std::string_view function) const;

  WireOptions options_;
  Dialogue dialogue_;
  RowForm form_;
  std::size_t rows_at_once_;
  PackedBatch packed_;
  ServedResult result_;
};

}  // namespace draftproof::adapters
