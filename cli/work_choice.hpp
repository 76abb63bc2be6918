// The options that divide a long run and save it: shards, checkpoints and resumption, over blocks (properties/blocks,
// docs/scale.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <draftproof/cli/session.hpp>
#include <draftproof/properties/blocks/checkpoint.hpp>

namespace draftproof {

class WorkChoice {
 public:
  /// Adds the options to a command.
  void declare(CLI::App& app);
  /// Returns the checkpoint of this run, with the blocks of the checkpoint file or of the caller; null if no option
  /// requests blocks. `sources` are the sources of the command; those that are files become part of the request.
  /// Throws: InputError for options that contradict each other and for a checkpoint of another request.
  Checkpoint* open(const Session& session, const std::vector<std::string>& sources);
  /// Whether an option, `merge` or `plan` requests that the work be divided into blocks. A job of several ranks does
  /// not request this by itself.
  bool asked(const Session& session) const { return session.checkpoint || !shard_.empty() || !checkpoint_.empty(); }
  /// Whether the work is divided into blocks, also because a job has several ranks.
  bool in_blocks(const Session& session) const { return asked(session) || partial(session); }
  /// Whether this process will compute only some of the blocks, or only a plan.
  bool partial(const Session& session) const;
  /// Called after the blocks are computed: saves the checkpoint, and writes a shard's part to the output of the
  /// session. On rank 0 of several ranks it runs the command again on the blocks of all ranks. Returns the exit code if
  /// nothing more is to be done.
  /// Throws: WriteFailure.
  std::optional<ExitCode> finish(const Session& session) const;

 private:
  int finish_on_ranks(const Session& session) const;
  nlohmann::json request(const std::vector<std::string>& sources) const;

  CLI::App* app_ = nullptr;
  std::string shard_{}, checkpoint_{}, plan_{};
  bool resume_ = false;
  std::shared_ptr<Checkpoint> known_{};
};

/// Runs the command that is stored in the checkpoint `known`, without computing the blocks in `known` again. The
/// output, the format and the number of threads are taken from `session`.
int run_request(std::shared_ptr<Checkpoint> known, const Session& session);

/// Runs the command line `words` as run_program() does, without computing the blocks in `known` again.
/// Throws: the exceptions of the command.
int run_words(std::vector<std::string> words, std::shared_ptr<Checkpoint> known);

}  // namespace draftproof
